-- Record the day on which a key was last used.
-- KEYS  1 player   ARGV  1 id of the key  2 its hash  3 day (since 1970)
-- returns 1: done | 0: the key is no longer valid
player_of(KEYS[1])
check_key(ARGV[1], ARGV[2])
whole(ARGV[3], 0)
if redis.call('HGET', KEYS[1], 'hash:' .. ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'used:' .. ARGV[1], ARGV[3])
return 1
