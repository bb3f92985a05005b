-- Replace everything that is derived from the stream of a match. Change nothing if the match has moved on.
-- KEYS  1 stream  2 requests  3 due  4 standing  5 snapshots  6.. indexes
-- ARGV  1 head  2 match  3 created  4 standing  5 number of requests  6 number of snapshots  7 number of changes in what is due
--       then requests and their answers, versions and their snapshots, "+" or "-" for each index, and members of what is due with their
--       moments ("" to remove them)
-- returns 1: done | 0: the match has moved on
if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[2], KEYS[5])
local place = 8
for _ = 1, tonumber(ARGV[5]) do
  redis.call('HSET', KEYS[2], ARGV[place], ARGV[place + 1])
  place = place + 2
end
for _ = 1, tonumber(ARGV[6]) do
  redis.call('HSET', KEYS[5], ARGV[place], ARGV[place + 1])
  place = place + 2
end
redis.call('SET', KEYS[4], ARGV[4])
for i = 6, #KEYS do
  if ARGV[place] == '+' then redis.call('ZADD', KEYS[i], ARGV[3], ARGV[2]) else redis.call('ZREM', KEYS[i], ARGV[2]) end
  place = place + 1
end
for _ = 1, tonumber(ARGV[7]) do
  if ARGV[place + 1] == '' then redis.call('ZREM', KEYS[3], ARGV[place]) else redis.call('ZADD', KEYS[3], ARGV[place + 1], ARGV[place]) end
  place = place + 2
end
return 1
