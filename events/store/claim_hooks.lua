-- Take what hooks have to send: it stays due, but later, in case the worker that takes it dies.
-- KEYS  1 hooks; the key with the cursors follows from it
-- ARGV  1 ms for which the worker has it  2 most  3 ms after which nothing is due unless a clock was wrong
-- returns {taken things, each followed by its cursor, ms until the earliest of the others or -1}
local tag = string.match(KEYS[1], '^({p%d%d?%d?}):hooks$')
if not tag then error({err = 'ERR not the key of the hooks'}) end
local lease, most, longest = whole(ARGV[1], 0), whole(ARGV[2], 1), whole(ARGV[3], 0)
local now = now_ms()
local found = redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, most)
if #found < most then
  local late = string.format('(%d', now + longest)
  for _, item in ipairs(redis.call('ZRANGE', KEYS[1], late, '+inf', 'BYSCORE', 'LIMIT', 0, most - #found)) do found[#found + 1] = item end
end
local taken = {}
for _, item in ipairs(found) do
  local cursor = redis.call('HGET', tag .. ':cursors', item)
  if cursor then
    redis.call('ZADD', KEYS[1], now + lease, item)
    taken[#taken + 1] = item
    taken[#taken + 1] = cursor
  else
    redis.call('ZREM', KEYS[1], item)
  end
end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
return {taken, next and math.max(0, tonumber(next) - now) or -1}
