-- Give a player another role, and publish that the player has changed.
-- KEYS  1 player   ARGV  1 role
-- returns 1: done | 0: no such player
local id = player_of(KEYS[1])
check_role(ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'role', ARGV[1])
redis.call('PUBLISH', '{players}:changed', id)
return 1
