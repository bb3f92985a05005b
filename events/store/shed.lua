-- Remove the first leaves of a server's log and their hashes, which the archive has as full tiles. Only the archivist may. The last of each stays.
-- KEYS  1 state  2 leaves  3.. hashes of each level of tiles   ARGV  1 how many leaves the archive has: a number of whole tiles
-- returns 1: they are removed | 0: no published checkpoint covers them, or the log has no more than these
local start = server_log_of(KEYS[1], 'state')
local size, width = whole(ARGV[1], 1), 256
if KEYS[2] ~= start .. 'leaves' or size % 256 ~= 0 then error({err = 'ERR not whole tiles of a log'}) end
for level = 0, #KEYS - 3 do
  if KEYS[3 + level] ~= start .. 'h:' .. level then error({err = 'ERR the keys are not those of one log'}) end
end
if tonumber(redis.call('HGET', KEYS[1], 'size') or 0) < size or size_of_log(KEYS[2]) <= size then return 0 end
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%d-0', size + 1))
for level = 0, #KEYS - 3 do
  local most = math.floor(math.max(0, size_of_log(KEYS[3 + level]) - 1) / 256)
  redis.call('XTRIM', KEYS[3 + level], 'MINID', string.format('%d-0', 256 * math.min(math.floor(size / width), most) + 1))
  width = width * 256
end
return 1
