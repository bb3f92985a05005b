-- Publish a signed checkpoint of the server's log: that of all its leaves, by the holder of the lease, or the published one with more signatures.
-- KEYS  1 state  2 leaves   ARGV  1 size  2 the checkpoint, a signed note  3 the lease
-- returns 1: published | 0: a larger one is published, or the same one with as many signatures; or another has the lease
local EMPTY = '0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'
local start = server_log_of(KEYS[1], 'state')
if KEYS[2] ~= start .. 'leaves' then error({err = 'ERR the keys are not those of one log'}) end
local size = whole(ARGV[1], 0)
local said = string.match(ARGV[2], '^[^\n]+\n(%d+\n[^\n]+\n)')
if not said or #ARGV[2] > 16384 or string.match(said, '^%d+') ~= string.format('%d', size) then
  error({err = 'ERR not a checkpoint of that size'})
end
if size_of_log(KEYS[2]) < size then error({err = 'ERR the log has fewer leaves'}) end
local before, known, mark, lease = unpack(redis.call('HMGET', KEYS[1], 'size', 'note', 'mark', 'lease'))
before = tonumber(before or -1)
if before > size then return 0 end
if before == size then
  if #known >= #ARGV[2] or string.match(known, '^[^\n]+\n(%d+\n[^\n]+\n)') ~= said then return 0 end
elseif ARGV[3] == '' or lease ~= ARGV[3] then return 0
elseif said ~= (mark or EMPTY) then error({err = 'ERR the log has another tree'}) end
redis.call('HSET', KEYS[1], 'size', string.format('%d', size), 'note', ARGV[2])
return 1
