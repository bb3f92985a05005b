-- Note that every partition knows the hooks of a player, unless they have changed since.
-- KEYS  1 player   ARGV  1 how often the hooks of the player had changed
-- returns 1: noted | 0: the hooks have changed
local id = player_of(KEYS[1])
if tonumber(redis.call('HGET', KEYS[1], 'hooks') or '0') ~= whole(ARGV[1], 0) then return 0 end
redis.call('ZREM', UNTOLD, id)
return 1
