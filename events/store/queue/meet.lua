-- Add valid keys to those that all processes know. Return those that were added since a moment. The oldest are dropped.
-- KEYS  1 the known keys   ARGV  1 moment (ms since 1970, of this server)  2 the most to keep  3 seconds to keep them  4.. keys to add
-- returns {the moment now, the keys added at or after the moment}
local time = redis.call('TIME')
local now = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
for i = 4, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
if #ARGV > 3 then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[2]))
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return {now, redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf')}
