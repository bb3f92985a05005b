-- Append entries to the stream of a match, and in the same step everything that follows from them. One slot, all or nothing.
-- KEYS  1 stream  2 requests  3 due  4 standing  5 snapshots  6 secret  7.. indexes that the match enters or leaves
-- ARGV  1 expected version  2 mark of this attempt  3 request ("" for none)  4 its answer  5 due since ("" unchanged, "-" no more)
--       6 standing ("" unchanged)  7 snapshot's version ("" for none)  8 snapshot  9 version of the snapshot to drop ("" for none)
--       10 secret ("" unless the match begins)  11 channel  12 match  13 created  14 longest tail  15 number of entries n
--       16..15+n entries  16+n.. "+" or "-" for each index, and last the digest of the expected version ("" not to look)
-- gives {1} appended | {0, head, tail} another version was expected, with head -1 another entry at it | {2, answer, its entries} the request was carried out before
local stream = KEYS[1]
if ARGV[3] ~= '' then
  local known = redis.call('HGET', KEYS[2], ARGV[3])
  if known then
    local first, last = string.match(known, '^(%d+):(%d+):')
    return {2, known, redis.call('XRANGE', stream, first, last)}
  end
end
local expected = tonumber(ARGV[1])
local head = redis.call('XLEN', stream)
-- Whoever asks may stand on entries that a store which forgot (a power cut without fsync, a failover) has replaced by others since.
if ARGV[#ARGV] ~= '' and 0 < expected and expected <= head then
  local stands = redis.call('XRANGE', stream, string.format('%d-0', expected), string.format('%d-0', expected))[1]
  if not (stands and string.find(stands[2][2], '"digest":"' .. ARGV[#ARGV] .. '"', 1, true)) then return {0, -1, {}} end
end
if head ~= expected then
  return {0, head, redis.call('XRANGE', stream, string.format('%d-0', expected + 1), '+', 'COUNT', ARGV[14])}
end
local n = tonumber(ARGV[15])
for i = 1, n do
  redis.call('XADD', stream, string.format('%d-0', expected + i), 'e', ARGV[15 + i], 'm', ARGV[2])
end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[2], ARGV[3], ARGV[4]) end
if ARGV[5] == '-' then
  redis.call('ZREM', KEYS[3], ARGV[12])
elseif ARGV[5] ~= '' then
  redis.call('ZADD', KEYS[3], ARGV[5], ARGV[12])
end
if ARGV[6] ~= '' then redis.call('SET', KEYS[4], ARGV[6]) end
if ARGV[7] ~= '' then redis.call('HSET', KEYS[5], ARGV[7], ARGV[8]) end
if ARGV[9] ~= '' then redis.call('HDEL', KEYS[5], ARGV[9]) end
if ARGV[10] ~= '' then redis.call('SET', KEYS[6], ARGV[10], 'NX') end
for i = 7, #KEYS do
  if ARGV[9 + n + i] == '+' then
    redis.call('ZADD', KEYS[i], ARGV[13], ARGV[12])
  else
    redis.call('ZREM', KEYS[i], ARGV[12])
  end
end
redis.call('PUBLISH', ARGV[11], ARGV[12] .. ' ' .. string.format('%d', expected + n))
return {1}
