-- Keep the day on which a key was last used. The first key of a player from an earlier release moves from its index to the player.
-- KEYS  1 player  2 index of the hash of the key   ARGV  1 id of the key  2 its hash  3 day (since 1970)  4 the key in JSON
-- returns 1: done | 0: the key is not valid any more
local id = player_of(KEYS[1])
check_key(ARGV[1], ARGV[2])
whole(ARGV[3], 0)
if KEYS[2] ~= '{players}:k:' .. ARGV[2] then error({err = 'ERR not the index of this hash'}) end
if not has_key(KEYS[1], ARGV[1]) then return 0 end
local known = redis.call('HGET', KEYS[1], 'hash:' .. ARGV[1])
if not known and redis.call('GET', KEYS[2]) == id then
  redis.call('HSET', KEYS[1], 'key:' .. ARGV[1], ARGV[4], 'hash:' .. ARGV[1], ARGV[2])
  known = ARGV[2]
end
if known ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'used:' .. ARGV[1], ARGV[3])
return 1
