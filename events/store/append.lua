-- Append entries to the stream of a match, and update everything that is derived from them. Atomic; all keys are in one slot.
-- KEYS  1 stream  2 requests  3 due  4 standing  5 snapshots  6 secret  7 pending  8.. indexes that the match enters or leaves
-- ARGV  1 expected version  2 mark of this attempt  3 request ("" for none)  4 its answer  5 standing ("" unchanged)
--       6 version of the snapshot ("" for none)  7 snapshot  8 version of the snapshot to drop ("" for none)
--       9 secret ("" unless the match is created)  10 created  11 longest tail
--       12 digest of the expected version ("" not to check)  13 number of entries n  14 number of changes in what is due d
--       15 moment at which the ledger wants a leaf of the match, unless it wants one earlier ("" for none)
--       16..15+n entries, then for each index "+", the moment that orders its matches if that is not the creation, or "-", then d times a
--       member of what is due and its moment ("" to remove it), then the players to tell, as text
-- returns {1}: appended | {0, head, tail}: the match is at another version; head -1: another entry has the expected version
--       | {2, answer, its entries}: the request was carried out before
local stream = KEYS[1]
local tag, match = partition_and_match(stream, 's')
check_keys(KEYS, 2, tag, match, {'r', 'due', 'm', 'd', 'x', 'pending'})
check_indexes(KEYS, 8, tag)
local expected, n, d = whole(ARGV[1], 0), whole(ARGV[13], 1), whole(ARGV[14], 0)
if #ARGV ~= 16 + n + #KEYS - 7 + 2 * d then error({err = 'ERR the numbers of keys and arguments do not fit'}) end
if ARGV[9] ~= '' and not (expected == 0 and #ARGV[9] == 64 and string.match(ARGV[9], '^%x+$')) then
  error({err = 'ERR a secret is 32 bytes in hex, and is given when the match is created'})
end
whole(ARGV[10], 0)
if ARGV[15] ~= '' then whole(ARGV[15], 0) end
for place = 16 + n, 15 + n + #KEYS - 7 do
  if ARGV[place] ~= '+' and ARGV[place] ~= '-' then whole(ARGV[place], 0) end
end
if not string.match(ARGV[#ARGV], '^[%w *]*$') then error({err = 'ERR the players to tell are not ids'}) end
for place = #ARGV - 2 * d + 1, #ARGV - 1, 2 do
  if ARGV[place] ~= '' then whole(ARGV[place], 0) end
end
if ARGV[3] ~= '' then
  local known = redis.call('HGET', KEYS[2], ARGV[3])
  if known then
    local first, last = string.match(known, '^(%d+):(%d+):')
    return {2, known, redis.call('XRANGE', stream, first, last)}
  end
end
local head = redis.call('XLEN', stream)
-- The caller may know entries that the store has lost (a power cut without fsync, a failover) and replaced by others.
if ARGV[12] ~= '' and 0 < expected and expected <= head then
  local stored = redis.call('XRANGE', stream, string.format('%d-0', expected), string.format('%d-0', expected))[1]
  if not (stored and string.find(stored[2][2], '"digest":"' .. ARGV[12] .. '"', 1, true)) then return {0, -1, {}} end
end
if head ~= expected then
  return {0, head, redis.call('XRANGE', stream, string.format('%d-0', expected + 1), '+', 'COUNT', ARGV[11])}
end
for i = 1, n do
  redis.call('XADD', stream, string.format('%d-0', expected + i), 'e', ARGV[15 + i], 'm', ARGV[2])
end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[2], ARGV[3], ARGV[4]) end
if ARGV[5] ~= '' then redis.call('SET', KEYS[4], ARGV[5]) end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[5], ARGV[6], ARGV[7]) end
if ARGV[8] ~= '' then redis.call('HDEL', KEYS[5], ARGV[8]) end
if ARGV[9] ~= '' then redis.call('SET', KEYS[6], ARGV[9], 'NX') end
if ARGV[15] ~= '' then redis.call('ZADD', KEYS[7], 'LT', ARGV[15], match) end
local place = 16 + n
for i = 8, #KEYS do
  if ARGV[place] == '-' then
    redis.call('ZREM', KEYS[i], match)
  else
    redis.call('ZADD', KEYS[i], ARGV[place] == '+' and ARGV[10] or ARGV[place], match)
  end
  place = place + 1
end
for _ = 1, d do
  if ARGV[place + 1] == '' then
    redis.call('ZREM', KEYS[3], ARGV[place])
  else
    redis.call('ZADD', KEYS[3], ARGV[place + 1], ARGV[place])
  end
  place = place + 2
end
redis.call('PUBLISH', tag .. ':heads', match .. ' ' .. string.format('%d', expected + n) .. ARGV[#ARGV])
return {1}
