-- Replace everything that is derived from the stream of a match. Change nothing if the match has moved on.
-- KEYS  1 stream  2 requests  3 due  4 standing  5 snapshots  6 pending  7.. indexes
-- ARGV  1 head  2 standing  3 number of requests  4 number of snapshots  5 number of changes in the due index
--       6 when the next leaf of the match is due in the server's log ("" for none)
--       then requests with their answers, versions with their snapshots, for each index the moment that orders the match or "-" to leave it,
--       and members of the due index with their moments ("" to remove them)
-- returns 1: done | 0: the match has moved on
local tag, match = partition_and_match(KEYS[1], 's')
check_keys(KEYS, 2, tag, match, {'r', 'due', 'm', 'd', 'pending'})
check_indexes(KEYS, 7, tag)
local requests, snapshots, due = whole(ARGV[3], 0), whole(ARGV[4], 0), whole(ARGV[5], 0)
if #ARGV ~= 6 + 2 * requests + 2 * snapshots + #KEYS - 6 + 2 * due then error({err = 'ERR the numbers of keys and arguments do not fit'}) end
if ARGV[6] ~= '' then whole(ARGV[6], 0) end
for place = 7 + 2 * requests + 2 * snapshots, 2 * requests + 2 * snapshots + #KEYS do
  if ARGV[place] ~= '-' then whole(ARGV[place], 0) end
end
for place = #ARGV - 2 * due + 2, #ARGV, 2 do
  if ARGV[place] ~= '' then whole(ARGV[place], 0) end
end
if redis.call('XLEN', KEYS[1]) ~= whole(ARGV[1], 0) then return 0 end
redis.call('UNLINK', KEYS[2], KEYS[5])
local place = 7
for _ = 1, requests do
  redis.call('HSET', KEYS[2], ARGV[place], ARGV[place + 1])
  place = place + 2
end
for _ = 1, snapshots do
  redis.call('HSET', KEYS[5], ARGV[place], ARGV[place + 1])
  place = place + 2
end
redis.call('SET', KEYS[4], ARGV[2])
if ARGV[6] == '' then redis.call('ZREM', KEYS[6], match) else redis.call('ZADD', KEYS[6], ARGV[6], match) end
for i = 7, #KEYS do
  if ARGV[place] == '-' then
    redis.call('ZREM', KEYS[i], match)
  else
    redis.call('ZADD', KEYS[i], ARGV[place], match)
  end
  place = place + 1
end
for _ = 1, due do
  if ARGV[place + 1] == '' then redis.call('ZREM', KEYS[3], ARGV[place]) else redis.call('ZADD', KEYS[3], ARGV[place + 1], ARGV[place]) end
  place = place + 2
end
return 1
