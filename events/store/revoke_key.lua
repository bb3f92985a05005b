-- Revoke a key, and publish that the player has changed.
-- KEYS  1 player  2 index of its hash   ARGV  1 id of the key that asks ("" for the admin key)  2 its hash  3 id of the key
-- returns 1: done | 0: no such player or key | -1: the key that asks is not valid any more
local id = player_of(KEYS[1])
check_hash_index(KEYS[2])
if not has_key(KEYS[1], ARGV[3]) then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
redis.call('HDEL', KEYS[1], 'key:' .. ARGV[3], 'hash:' .. ARGV[3], 'used:' .. ARGV[3])
-- An empty hash says that the first key is revoked. Without it, the first key of a player from an earlier release would still count.
if ARGV[3] == first_key(id) then redis.call('HSET', KEYS[1], 'hash:' .. ARGV[3], '') end
if redis.call('GET', KEYS[2]) == id then redis.call('UNLINK', KEYS[2]) end
redis.call('PUBLISH', '{players}:changed', id)
return 1
