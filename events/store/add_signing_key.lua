-- Give a player a signing key, and note that the server's log lacks it. Beyond the most keys, the key that was revoked first is forgotten.
-- KEYS  1 player
-- ARGV  1 id of the key of the request  2 its hash  3 the signing key, in base64  4 its name  5 moment (ms since 1970)  6 its signature, in base64
--       7 most keys that are not revoked  8 most keys
-- returns 1: done | 2: the player has the key | 0: no such player | -1: the key of the request is no longer valid
--       | -2: the player has the maximum number of keys | -3: the player has revoked the key
local id = player_of(KEYS[1])
check_signing_key(ARGV[3])
local moment, most_valid, most = whole(ARGV[5], 1), whole(ARGV[7], 1), whole(ARGV[8], 1)
if not string.match(ARGV[6], '^[%w+/]+==$') or #ARGV[6] ~= 88 then error({err = 'ERR not a signature'}) end
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
local held = signing_keys_of(id)
local known = redis.call('HGET', held, ARGV[3])
if known then return revoked_at(known) == 0 and 2 or -3 end
local keys, valid, oldest, first = 0, 0, nil, nil
for _, field in ipairs(redis.call('HKEYS', held)) do
  if string.sub(field, 1, 5) ~= 'name:' then
    local revoked = revoked_at(redis.call('HGET', held, field))
    keys = keys + 1
    if revoked == 0 then
      valid = valid + 1
    elseif (not first or revoked < first) and not redis.call('ZSCORE', UNLOGGED, id .. ' ' .. field) then
      oldest, first = field, revoked
    end
  end
end
if valid >= most_valid or (keys >= most and not oldest) then return -2 end
if keys >= most then redis.call('HDEL', held, oldest, 'name:' .. oldest) end
redis.call('HSET', held, ARGV[3], string.format('%d 0 ', moment) .. ARGV[6], 'name:' .. ARGV[3], ARGV[4])
redis.call('ZADD', UNLOGGED, moment, id .. ' ' .. ARGV[3])
return 1
