-- Set when the next leaf of a match is due in the server's log, unless the match has moved on from a version.
-- KEYS  1 stream   ARGV  1 version  2 moment ("" if none is due)
-- returns 1: set | 0: the match has moved on; look at it again
local tag, match = partition_and_match(KEYS[1], 's')
local pending, moment = tag .. ':pending', ARGV[2] == '' and cjson.null or whole(ARGV[2], 0)
local head = version_of(tag .. ':', match)
if head == 0 then return redis.call('ZREM', pending, match) end
if head ~= whole(ARGV[1], 1) then return 0 end
set_moment(pending, match, moment)
return 1
