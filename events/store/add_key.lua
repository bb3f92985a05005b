-- Give a player another key.
-- KEYS  1 player
-- ARGV  1 id of the key of the request ("" for the admin key)  2 its hash  3 id of the new key  4 the new key in JSON  5 its hash  6 most keys
-- returns 1: done, by this or an earlier attempt | 0: no such player | -1: the key of the request is no longer valid
--       | -2: the player has the maximum number of keys | -3: the player has or had another key with this id
local id = player_of(KEYS[1])
check_key(ARGV[3], ARGV[5])
local most = whole(ARGV[6], 1)
local known = redis.call('HGET', KEYS[1], 'hash:' .. ARGV[3])
if known == ARGV[5] then return 1 end
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
if ARGV[3] == first_key(id) then error({err = 'ERR the id of the first key'}) end
if known or string.find(redis.call('HGET', KEYS[1], 'revoked') or '', ARGV[3], 1, true) then return -3 end
local keys = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 4) == 'key:' then keys = keys + 1 end
end
if keys >= most then return -2 end
redis.call('HSET', KEYS[1], 'key:' .. ARGV[3], ARGV[4], 'hash:' .. ARGV[3], ARGV[5])
return 1
