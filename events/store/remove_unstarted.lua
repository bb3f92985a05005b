-- Remove a match that has not started in time, with everything that belongs to it. A match stays if it has started, or if it is too early by the
-- clock of this server, whoever calls this.
-- KEYS  1 stream  2 requests  3 due  4 standing  5 snapshots  6 secret  7 pending  8 refused actions  9 reads  10.. indexes
-- ARGV  1 head  2 ms that a match without an expiry of its own may wait  3 ms that a closed match stays  4.. members of the due index
-- returns 1: the match no longer exists | 0: it has moved on or has started, or it is too early
local stream = KEYS[1]
local tag, match = partition_and_match(stream, 's')
check_keys(KEYS, 2, tag, match, {'r', 'due', 'm', 'd', 'x', 'pending', 'f', 'w'})
check_indexes(KEYS, 10, tag)
local head = redis.call('XLEN', stream)
if head > 0 then
  if head ~= whole(ARGV[1], 0) then return 0 end
  local first = cjson.decode(redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][2][2])
  local last = cjson.decode(redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1][2][2])
  local until_ms = first.events[1].expires or first.at + whole(ARGV[2], 0)
  if last.events[1].type == 'match_closed' then until_ms = math.min(until_ms, last.at + whole(ARGV[3], 0)) end
  local clock = redis.call('TIME')
  local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
  if now < until_ms or now < first.at + 3600000 then return 0 end  -- an hour at least, whatever the entry says
  local after = '-'
  repeat
    local page = redis.call('XRANGE', stream, after, '+', 'COUNT', 500)
    for _, item in ipairs(page) do
      if string.find(item[2][2], '"type":"seats_filled"', 1, true) then return 0 end
      after = '(' .. item[1]
    end
  until #page == 0
end
redis.call('UNLINK', stream, KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[8], KEYS[9])
redis.call('ZREM', KEYS[7], match)
for place = 10, #KEYS do redis.call('ZREM', KEYS[place], match) end
for place = 4, #ARGV do
  if string.find(ARGV[place], '|' .. match .. '|', 1, true) then redis.call('ZREM', KEYS[3], ARGV[place]) end
end
redis.call('PUBLISH', tag .. ':heads', match .. ' 0')
return 1
