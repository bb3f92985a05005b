-- Append leaves to the server's log, with the hashes that they add to the Merkle tree, or change nothing. Leaves never change.
-- KEYS  1 leaves  2..1+l hashes of each level of tiles  2+l.. for each leaf, the leaves of its match
-- ARGV  1 expected size  2 number of leaves n  3 number of levels l  4..3+l number of new hashes of each level
--       then for each leaf its bytes, its name within its match and its fields, then the hashes of each level, then the lease and the new mark:
--       the size and the root in base64, a line each
-- returns 1: appended | 0: the log has another size, or has one of these leaves already, or another has the lease
local start = server_log_of(KEYS[1], 'leaves')
local size, n, levels = whole(ARGV[1], 0), whole(ARGV[2], 1), whole(ARGV[3], 1)
if #KEYS ~= 1 + levels + n then error({err = 'ERR the numbers of keys and leaves do not fit'}) end
local wanted, width = 3 + levels + 3 * n, 1
for level = 1, levels do
  if KEYS[1 + level] ~= start .. 'h:' .. (level - 1) then error({err = 'ERR the keys are not those of one log'}) end
  local count = math.floor((size + n) / width) - math.floor(size / width)
  if whole(ARGV[3 + level], 0) ~= count then error({err = 'ERR the tree does not get that many hashes'}) end
  wanted, width = wanted + count, width * 256
end
if math.floor((size + n) / width) > 0 or #ARGV ~= wanted + 2 then error({err = 'ERR the tree does not get that many hashes'}) end
for leaf = 1, n do
  local place = 4 + levels + 3 * (leaf - 1)
  if not string.match(KEYS[1 + levels + leaf], '^{log}:%x+:m:.') or string.sub(KEYS[1 + levels + leaf], 1, #start) ~= start then
    error({err = 'ERR the keys are not those of one log'})
  end
  if #ARGV[place] < 2 or #ARGV[place] > 1000 then error({err = 'ERR a leaf has 2 to 1000 bytes'}) end
  if not string.match(ARGV[place + 1], '^%l+:%d+$') then error({err = 'ERR not the name of a leaf'}) end
end
for place = 4 + levels + 3 * n, wanted do
  if #ARGV[place] ~= 32 then error({err = 'ERR a hash has 32 bytes'}) end
end
local lease, mark, state = ARGV[wanted + 1], ARGV[wanted + 2], start .. 'state'
if #mark > 64 or not string.match(mark, string.format('^%d\n[%%w+/]+=\n$', size + n)) then error({err = 'ERR not a mark of that size'}) end
if lease == '' or redis.call('HGET', state, 'lease') ~= lease or size_of_log(KEYS[1]) ~= size then return 0 end
for leaf = 1, n do
  if redis.call('HEXISTS', KEYS[1 + levels + leaf], ARGV[5 + levels + 3 * (leaf - 1)]) == 1 then return 0 end
end
for leaf = 1, n do
  local place = 4 + levels + 3 * (leaf - 1)
  redis.call('XADD', KEYS[1], string.format('%d-0', size + leaf), 'l', ARGV[place])
  redis.call('HSET', KEYS[1 + levels + leaf], ARGV[place + 1], string.format('%d ', size + leaf - 1) .. ARGV[place + 2])
end
local place = 4 + levels + 3 * n
width = 1
for level = 1, levels do
  local first = math.floor(size / width)
  for number = 1, whole(ARGV[3 + level], 0) do
    redis.call('XADD', KEYS[1 + level], string.format('%d-0', first + number), 'h', ARGV[place])
    place = place + 1
  end
  width = width * 256
end
redis.call('HSET', state, 'mark', mark)
return 1
