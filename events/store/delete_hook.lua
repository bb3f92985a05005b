-- Delete a hook with its deliveries.
-- KEYS  1 player   ARGV  1 id of the key of the request ("" for the admin key)  2 its hash  3 id of the hook
-- returns 1: done | 0: no such player or hook | -1: the key of the request is no longer valid
local id = player_of(KEYS[1])
check_hook(ARGV[3])
if redis.call('HEXISTS', KEYS[1], 'hook:' .. ARGV[3]) == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
note_revoked(KEYS[1], ARGV[3])
redis.call('HDEL', KEYS[1], 'hook:' .. ARGV[3])
redis.call('UNLINK', deliveries_of(id, ARGV[3]))
change_hooks(KEYS[1])
return 1
