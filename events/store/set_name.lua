-- Give a player another name, and publish that the player has changed.
-- KEYS  1 player   ARGV  1 id of the key of the request ("" for the admin key)  2 its hash  3 name
-- returns 1: done | 0: no such player | -1: the key of the request is no longer valid
local id = player_of(KEYS[1])
local name = redis.call('HGET', KEYS[1], 'name')
if not name then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
if name == ARGV[3] then return 1 end
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0') + 1
redis.call('HSET', KEYS[1], 'name', ARGV[3], 'revision', string.format('%d', revision))
redis.call('PUBLISH', '{players}:changed', id)
return 1
