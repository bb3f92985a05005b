-- Revoke a signing key, note that the server's log lacks it, and publish that the player has changed. The first moment counts.
-- KEYS  1 player   ARGV  1 id of the key of the request  2 its hash  3 the signing key, in base64  4 moment (ms since 1970)
-- returns 1: done, now or earlier | 0: no such player or key | -1: the key of the request is no longer valid
local id = player_of(KEYS[1])
check_signing_key(ARGV[3])
local moment = whole(ARGV[4], 1)
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
local known = redis.call('HGET', signing_keys_of(id), ARGV[3])
if not known then return 0 end
local revoked = revoked_signing_key(known, moment)
if not revoked then return 1 end
redis.call('HSET', signing_keys_of(id), ARGV[3], revoked)
redis.call('ZADD', UNLOGGED, moment, id .. ' ' .. ARGV[3])
redis.call('PUBLISH', '{players}:changed', id)
return 1
