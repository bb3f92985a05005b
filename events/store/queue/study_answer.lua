-- Store the answer of a study for a while. If its kind has too many finished studies, drop the oldest.
-- ARGV  1 name  2 kind  3 the answer  4 ms to keep it  5 how many of the kind to keep
-- returns 1, or 0 if the study no longer exists or is done
local name, done = ARGV[1], 'study:done:' .. ARGV[2]
local key = 'study:' .. name
if redis.call('HEXISTS', key, 'asker') == 0 or redis.call('HSETNX', key, 'answer', ARGV[3]) == 0 then return 0 end
redis.call('UNLINK', key .. ':parts')
redis.call('PEXPIRE', key, ARGV[4])
local time = redis.call('TIME')
redis.call('ZADD', done, time[1] * 1000 + math.floor(time[2] / 1000), name)
redis.call('PEXPIRE', done, ARGV[4])
local over = redis.call('ZCARD', done) - tonumber(ARGV[5])
if over > 0 then
  for place, old in ipairs(redis.call('ZPOPMIN', done, over)) do
    if place % 2 == 1 then redis.call('UNLINK', 'study:' .. old) end
  end
end
return 1
