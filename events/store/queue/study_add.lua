-- Add a part to a study, unless somebody else has added one since.
-- ARGV  1 name  2 how many parts it has  3 the part  4 ms for which the study now waits for the next
-- returns 1, or 0 if there is no such study any more, or it is done or further
local key = 'study:' .. ARGV[1]
local parts = key .. ':parts'
if redis.call('HEXISTS', key, 'asker') == 0 or redis.call('HEXISTS', key, 'answer') == 1 then return 0 end
if redis.call('LLEN', parts) ~= tonumber(ARGV[2]) then return 0 end
redis.call('RPUSH', parts, ARGV[3])
redis.call('PEXPIRE', key, ARGV[4])
redis.call('PEXPIRE', parts, ARGV[4])
return 1
