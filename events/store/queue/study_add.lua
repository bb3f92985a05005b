-- Add a part to a study, unless another worker has added it.
-- ARGV  1 name  2 number of parts so far  3 the part  4 ms that the study waits for the next part
-- returns 1, or 0 if the study no longer exists, is done, or has another number of parts
local key = 'study:' .. ARGV[1]
local parts = key .. ':parts'
if redis.call('HEXISTS', key, 'asker') == 0 or redis.call('HEXISTS', key, 'answer') == 1 then return 0 end
if redis.call('LLEN', parts) ~= tonumber(ARGV[2]) then return 0 end
redis.call('RPUSH', parts, ARGV[3])
redis.call('PEXPIRE', key, ARGV[4])
redis.call('PEXPIRE', parts, ARGV[4])
return 1
