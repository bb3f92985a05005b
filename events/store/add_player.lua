-- Add a player with the first key. An existing or deleted player is not changed.
-- KEYS  1 player
-- ARGV  1 name  2 role  3 moment (ms since 1970)  4 id of the key  5 the key in JSON  6 hash of the key
-- returns 1: added, by this or an earlier attempt | 0: the player exists or existed
if first_key(player_of(KEYS[1])) ~= ARGV[4] then error({err = 'ERR not the id of the first key'}) end
check_key(ARGV[4], ARGV[6])
check_role(ARGV[2])
whole(ARGV[3], 0)
if redis.call('HGET', KEYS[1], 'hash:' .. ARGV[4]) == ARGV[6] then return 1 end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'role', ARGV[2], 'created', ARGV[3])
redis.call('HSET', KEYS[1], 'key:' .. ARGV[4], ARGV[5], 'hash:' .. ARGV[4], ARGV[6])
return 1
