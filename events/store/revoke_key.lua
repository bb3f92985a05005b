-- Revoke a key, and publish that the player has changed.
-- KEYS  1 player   ARGV  1 id of the key of the request ("" for the admin key)  2 its hash  3 id of the key
-- returns 1: done | 0: no such player or key | -1: the key of the request is no longer valid
local id = player_of(KEYS[1])
if redis.call('HEXISTS', KEYS[1], 'hash:' .. ARGV[3]) == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
note_revoked(KEYS[1], ARGV[3])
redis.call('HDEL', KEYS[1], 'key:' .. ARGV[3], 'hash:' .. ARGV[3], 'used:' .. ARGV[3])
redis.call('PUBLISH', '{players}:changed', id)
return 1
