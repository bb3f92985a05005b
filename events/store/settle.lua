-- Set when the next leaf of a match is due in the server's log, unless the match has moved on from a version.
-- KEYS  1 stream  2 pending   ARGV  1 match  2 version  3 moment ("" if none is due)
-- returns 1: set | 0: the match has moved on; look at it again
local tag, match = partition_and_match(KEYS[1], 's')
check_keys(KEYS, 2, tag, match, {'pending'})
if match ~= ARGV[1] then error({err = 'ERR the keys are not those of one match'}) end
if ARGV[3] ~= '' then whole(ARGV[3], 0) end
local head = redis.call('XLEN', KEYS[1])
if head == 0 then return redis.call('ZREM', KEYS[2], match) end
if head ~= whole(ARGV[2], 1) then return 0 end
if ARGV[3] == '' then redis.call('ZREM', KEYS[2], match) else redis.call('ZADD', KEYS[2], ARGV[3], match) end
return 1
