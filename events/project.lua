-- Put what is worked out from the stream of a match in the place of whatever was there, unless the match has moved on meanwhile.
-- KEYS  1 stream  2 requests  3 due  4 standing  5 snapshots  6.. indexes
-- ARGV  1 head  2 match  3 created  4 due since or ""  5 standing  6 number of requests  7 number of snapshots
--       then requests and their answers, versions and their snapshots, and "+" or "-" for each index
-- gives 1 done | 0 the match has moved on
if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[2], KEYS[5])
local place = 8
for _ = 1, tonumber(ARGV[6]) do
  redis.call('HSET', KEYS[2], ARGV[place], ARGV[place + 1])
  place = place + 2
end
for _ = 1, tonumber(ARGV[7]) do
  redis.call('HSET', KEYS[5], ARGV[place], ARGV[place + 1])
  place = place + 2
end
if ARGV[4] ~= '' then redis.call('ZADD', KEYS[3], ARGV[4], ARGV[2]) else redis.call('ZREM', KEYS[3], ARGV[2]) end
redis.call('SET', KEYS[4], ARGV[5])
for i = 6, #KEYS do
  if ARGV[place] == '+' then redis.call('ZADD', KEYS[i], ARGV[3], ARGV[2]) else redis.call('ZREM', KEYS[i], ARGV[2]) end
  place = place + 1
end
return 1
