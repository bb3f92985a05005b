-- Delete a player with all keys and hooks, and publish that the player has changed. A rest stays, so that the id is not used again.
-- Signing keys are revoked and lose their names.
-- KEYS  1 player   ARGV  1 id of the key of the request  2 its hash  3 moment (ms since 1970)
-- returns 1: done, by this or an earlier attempt | 0: no such player | -1: the key of the request is no longer valid
local id = player_of(KEYS[1])
check_key(ARGV[1], ARGV[2])
local moment = whole(ARGV[3], 1)
if redis.call('HGET', KEYS[1], 'deleted') == ARGV[3] then return 1 end
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0') + 1
local hooks = redis.call('HGET', KEYS[1], 'hooks')
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 5) == 'hook:' then redis.call('UNLINK', deliveries_of(id, string.sub(field, 6))) end
end
redis.call('UNLINK', KEYS[1])
redis.call('HSET', KEYS[1], 'deleted', ARGV[3], 'revision', string.format('%d', revision))
if hooks then
  redis.call('HSET', KEYS[1], 'hooks', hooks)
  change_hooks(KEYS[1])
end
local held = signing_keys_of(id)
for _, field in ipairs(redis.call('HKEYS', held)) do
  local is_key = string.sub(field, 1, 5) ~= 'name:'
  local revoked = is_key and revoked_signing_key(redis.call('HGET', held, field), moment)
  if revoked then
    redis.call('HSET', held, field, revoked)
    redis.call('ZADD', UNLOGGED, moment, id .. ' ' .. field)
  elseif not is_key then
    redis.call('HDEL', held, field)
  end
end
redis.call('PUBLISH', '{players}:changed', id)
return 1
