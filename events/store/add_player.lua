-- Add a player and the hash of a key. A player who exists stays as it is.
-- KEYS  1 player  2 key   ARGV  1 id, then fields and values
-- returns 1: added, by this or an earlier attempt | 0: the player or the key exists
if KEYS[1] ~= '{players}:p:' .. ARGV[1] or not string.match(KEYS[2], '^{players}:k:%x+$') or #ARGV < 3 then
  error({err = 'ERR not the keys of a player'})
end
local owner = redis.call('GET', KEYS[2])
if owner == ARGV[1] then return 1 end
if owner or redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('SET', KEYS[2], ARGV[1])
return 1
