-- Keep refused actions of seats in the side log of a match: the newest, up to so many bytes of a seat and of the match. The others are dropped
-- and counted. Then drop the refused actions of matches of the partition where nothing was refused for long, and of the earliest if they are
-- too many.
-- KEYS  1 stream
-- ARGV  1 mark of this call  2 number of actions dropped before this call  3.. pairs of a seat and an action in JSON
-- The field `order` has the number, the seat and the bytes of each kept action, newest first. So no call reads the actions themselves.
-- returns 1: done | 0: there is no such match, or this call is a repetition
local BYTES_OF_SEAT, BYTES, LONGEST, MOST = 4000, 24000, 2000, 200
local KEPT_MS, MATCHES, AT_ONCE = 2592000000, 1000, 10
local tag, match = partition_and_match(KEYS[1], 's')
local key, matches = tag .. ':f:' .. match, tag .. ':refused'
local gone = whole(ARGV[2], 0)
if #ARGV < 4 or #ARGV % 2 == 1 or #ARGV > 2 + 2 * MOST or #ARGV[1] > 64 then
  error({err = 'ERR the number of arguments does not fit'})
end
for place = 3, #ARGV, 2 do
  if #ARGV[place] > 32 or not string.match(ARGV[place], '^[a-z][a-z0-9_]*$') then error({err = 'ERR not a seat'}) end
  if #ARGV[place + 1] > LONGEST then error({err = 'ERR the action is too long'}) end
end
if redis.call('XLEN', KEYS[1]) == 0 or redis.call('HGET', key, 'mark') == ARGV[1] then return 0 end
local order, bytes, of_seat = {}, 0, {}
gone = gone + (redis.call('HGET', key, 'gone') or 0)
local last = tonumber(redis.call('HGET', key, 'last') or 0)

local function keep(item, seat, size)
  local with = (of_seat[seat] or 0) + size
  of_seat[seat] = with
  if with <= BYTES_OF_SEAT and bytes + size <= BYTES then
    bytes = bytes + size
    order[#order + 1] = item
    return true
  end
  gone = gone + 1
end

for place = #ARGV - 1, 3, -2 do
  local number, size = string.format('%d', last + (place - 1) / 2), #ARGV[place + 1]
  if keep(string.format('%s %s %d', number, ARGV[place], size), ARGV[place], size) then redis.call('HSET', key, number, ARGV[place + 1]) end
end
for item, seat, size in string.gmatch(redis.call('HGET', key, 'order') or '', '(%d+ (%S+) (%d+))') do
  if not keep(item, seat, tonumber(size)) then redis.call('HDEL', key, string.match(item, '^%d+')) end
end
redis.call('HSET', key, 'order', table.concat(order, ' '), 'mark', ARGV[1], 'last', string.format('%d', last + (#ARGV - 2) / 2))
redis.call('HSET', key, 'gone', string.format('%d', gone))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', matches, now, match)
local ended = redis.call('ZRANGEBYSCORE', matches, '-inf', string.format('%d', now - KEPT_MS), 'LIMIT', 0, AT_ONCE)
local over = redis.call('ZCARD', matches) - #ended - MATCHES
if over > 0 then
  for _, other in ipairs(redis.call('ZRANGE', matches, #ended, #ended + math.min(over, AT_ONCE) - 1)) do ended[#ended + 1] = other end
end
for _, other in ipairs(ended) do
  redis.call('UNLINK', tag .. ':f:' .. other)
  redis.call('ZREM', matches, other)
end
return 1
