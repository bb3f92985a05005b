-- Tell those who follow a match what a seat says. Nothing is stored.
-- KEYS  1 stream   ARGV  1 the seat  2 the phrase
-- returns 1
local tag, match = partition_and_match(KEYS[1], 's')
if #ARGV ~= 2 then error({err = 'ERR the number of arguments does not fit'}) end
if #ARGV[1] > 32 or not string.match(ARGV[1], '^[a-z][a-z0-9_]*$') then error({err = 'ERR not a seat'}) end
if #ARGV[2] > 32 or not string.match(ARGV[2], '^[a-z_]+$') then error({err = 'ERR not a phrase'}) end
redis.call('PUBLISH', tag .. ':heads', match .. ' says ' .. ARGV[1] .. ' ' .. ARGV[2])
return 1
