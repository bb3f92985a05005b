-- Publish a signed checkpoint of the server's log, if it is larger than the published one, or is the same with more signatures.
-- KEYS  1 state  2 leaves   ARGV  1 size  2 the checkpoint, a signed note
-- returns 1: published | 0: a larger one is published, or the same one with as many signatures
local start = server_log_of(KEYS[1], 'state')
if KEYS[2] ~= start .. 'leaves' then error({err = 'ERR the keys are not those of one log'}) end
local size = whole(ARGV[1], 0)
if not string.find(ARGV[2], string.format('^[^\n]+\n%d\n', size)) or #ARGV[2] > 16384 then error({err = 'ERR not a checkpoint of that size'}) end
if redis.call('XLEN', KEYS[2]) < size then error({err = 'ERR the log has fewer leaves'}) end
local before, known = redis.call('HGET', KEYS[1], 'size'), redis.call('HGET', KEYS[1], 'note')
if before and (tonumber(before) > size or (tonumber(before) == size and #known >= #ARGV[2])) then return 0 end
redis.call('HSET', KEYS[1], 'size', string.format('%d', size), 'note', ARGV[2])
return 1
