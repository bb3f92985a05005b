-- Remove a match that has not started in time, with everything that belongs to it. A match stays if it has started, or if it is too early by the
-- clock of this server, whoever calls this.
-- KEYS  1 stream; the other keys of the match and of its partition follow from it
-- ARGV  1 head  2 ms that a match without an expiry of its own may wait  3 ms that a closed match stays  4 names of indexes, in JSON
--       5.. members of the due index
-- returns 1: the match no longer exists | 0: it has moved on or has started, or it is too early
local stream = KEYS[1]
local tag, match = partition_and_match(stream, 's')
local indexes = cjson.decode(ARGV[4])
local head = redis.call('XLEN', stream)
if head > 0 then
  if head ~= whole(ARGV[1], 0) then return 0 end
  local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
  local created, until_ms = moment_of(first), expiry_of(first)
  if created == 0 then error({err = 'ERR the first entry cannot be read'}) end
  until_ms = until_ms or created + whole(ARGV[2], 0)
  if has_fact(last, CLOSES) then until_ms = math.min(until_ms, moment_of(last) + whole(ARGV[3], 0)) end
  local now = now_ms()
  if now < until_ms or now < created + 3600000 then return 0 end  -- an hour at least, whatever the entry says
  local after = '-'
  repeat
    local page = redis.call('XRANGE', stream, after, '+', 'COUNT', 500)
    for _, item in ipairs(page) do
      if has_fact(item, STARTS) then return 0 end
      after = '(' .. item[1]
    end
  until #page == 0
end
for _, kind in ipairs({'s', 'r', 'm', 'd', 'x', 'f', 'w'}) do redis.call('UNLINK', tag .. ':' .. kind .. ':' .. match) end
for _, name in ipairs({'pending', 'refused'}) do redis.call('ZREM', tag .. ':' .. name, match) end
for _, name in ipairs(indexes) do redis.call('ZREM', tag .. ':i:' .. check_text(name), match) end
for place = 5, #ARGV do
  if string.find(ARGV[place], '|' .. match .. '|', 1, true) then redis.call('ZREM', tag .. ':due', ARGV[place]) end
end
redis.call('PUBLISH', tag .. ':heads', match .. ' 0')
return 1
