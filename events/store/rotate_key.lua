-- Give a key another hash, and publish that the player has changed.
-- KEYS  1 player
-- ARGV  1 id of the key of the request ("" for the admin key)  2 its hash  3 id of the key  4 the key in JSON  5 its new hash
-- returns 1: done, by this or an earlier attempt | 0: no such player or key | -1: the key of the request is no longer valid
local id = player_of(KEYS[1])
check_key(ARGV[3], ARGV[5])
if redis.call('HGET', KEYS[1], 'hash:' .. ARGV[3]) == ARGV[5] then return 1 end
if redis.call('HEXISTS', KEYS[1], 'hash:' .. ARGV[3]) == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
redis.call('HSET', KEYS[1], 'key:' .. ARGV[3], ARGV[4], 'hash:' .. ARGV[3], ARGV[5])
redis.call('HDEL', KEYS[1], 'used:' .. ARGV[3])
redis.call('PUBLISH', '{players}:changed', id)
return 1
