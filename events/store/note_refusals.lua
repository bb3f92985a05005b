-- Keep refused actions of seats in the side log of a match: the newest, up to so many bytes of a seat and of the match. The others are dropped.
-- Then drop the refused actions of matches of the partition where nothing was refused for long, and of the earliest if they are too many.
-- KEYS  1 stream
-- ARGV  1 mark of this call  2 for each seat the running hash of its refused actions so far, as "count hash", in JSON ("" for none)
--       3.. for each action its seat, the action in JSON, and the running hash after it in hex
-- The field `order` has the number, the seat and the bytes of each kept action, newest first. So no call reads the actions themselves.
-- The field `base:<seat>` has the running hash before the oldest action that is kept, and each action is kept after its own. The newest running
-- hashes stand beside the reads, where they stay when the actions go.
-- returns 1: done | 0: there is no such match, or this call is a repetition
--       | the seats and their running hashes, one after the other: they are others than in ARGV 2, and nothing was done
local BYTES_OF_SEAT, BYTES, LONGEST, MOST = 4000, 24000, 2000, 200
local KEPT_MS, MATCHES, AT_ONCE = 2592000000, 1000, 10
local tag, match = partition_and_match(KEYS[1], 's')
local key, heads, matches = tag .. ':f:' .. match, tag .. ':w:' .. match, tag .. ':refused'
if #ARGV < 5 or #ARGV % 3 ~= 2 or #ARGV > 2 + 3 * MOST or #ARGV[1] > 64 then error({err = 'ERR the number of arguments does not fit'}) end
local expected, found, differs = cjson.decode(ARGV[2]), {}, false
for place = 3, #ARGV, 3 do
  local seat = ARGV[place]
  if #seat > 32 or not string.match(seat, '^[a-z][a-z0-9_]*$') or not expected[seat] then error({err = 'ERR not a seat'}) end
  if #ARGV[place + 1] > LONGEST then error({err = 'ERR the action is too long'}) end
  check_hash(ARGV[place + 2])
end
if redis.call('XLEN', KEYS[1]) == 0 or redis.call('HGET', key, 'mark') == ARGV[1] then return 0 end
for seat, head in pairs(expected) do
  local known = redis.call('HGET', heads, 'head:' .. seat) or ''
  differs = differs or known ~= head
  found[#found + 1], found[#found + 2] = seat, known
end
if differs then return found end
local order, bytes, of_seat, kept, full = {}, 0, {}, {}, {}  -- full: by seat, the running hash of the newest action that is dropped
local last = tonumber(redis.call('HGET', key, 'last') or 0)

local function keep(item, seat, size)
  of_seat[seat] = (of_seat[seat] or 0) + size
  if full[seat] or of_seat[seat] > BYTES_OF_SEAT or bytes + size > BYTES then return end
  bytes, kept[seat] = bytes + size, (kept[seat] or 0) + 1
  order[#order + 1] = item
  return true
end

local counts = {}
for place = #ARGV - 2, 3, -3 do
  local seat, size, after = ARGV[place], #ARGV[place + 1], ARGV[place + 2]
  local number = string.format('%d', last + place / 3)
  if not counts[seat] then counts[seat] = {0, after} end
  counts[seat][1] = counts[seat][1] + 1
  if keep(string.format('%s %s %d', number, seat, size), seat, size) then redis.call('HSET', key, number, after .. ARGV[place + 1])
  else full[seat] = full[seat] or after end
end
local earlier = {}
for item, seat, size in string.gmatch(redis.call('HGET', key, 'order') or '', '(%d+ (%S+) (%d+))') do
  earlier[seat] = true
  if not keep(item, seat, tonumber(size)) then
    local number = string.match(item, '^%d+')
    full[seat] = full[seat] or string.sub(redis.call('HGET', key, number), 1, 64)
    redis.call('HDEL', key, number)
  end
end
for seat, count in pairs(counts) do
  local before = tonumber(string.match(expected[seat], '^%d+') or 0)
  redis.call('HSET', heads, 'head:' .. seat, string.format('%d %s', before + count[1], count[2]))
  if expected[seat] ~= '' and not earlier[seat] then redis.call('HSET', key, 'base:' .. seat, expected[seat]) end
end
for seat, after in pairs(full) do
  local count = tonumber(string.match(redis.call('HGET', heads, 'head:' .. seat) or '', '^%d+') or 0) - (kept[seat] or 0)
  redis.call('HSET', key, 'base:' .. seat, string.format('%d %s', count, after))
end
redis.call('HSET', key, 'order', table.concat(order, ' '), 'mark', ARGV[1], 'last', string.format('%d', last + (#ARGV - 2) / 3))
local now = now_ms()
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
