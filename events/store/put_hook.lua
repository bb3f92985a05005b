-- Give a player a hook, or change one. The partitions are told afterwards (hooked.lua); until then the player is among the untold.
-- KEYS  1 player
-- ARGV  1 id of the key of the request ("" for the admin key)  2 its hash  3 id of the hook  4 the hook before, in JSON ("" for a new one)
--       5 the hook in JSON  6 most hooks
-- returns 1: done, by this or an earlier attempt | 0: no such player | -1: the key of the request is no longer valid
--       | -2: the player has the maximum number of hooks | -3: the hook has changed, or another one has or had this id
player_of(KEYS[1])
check_hook(ARGV[3])
if #ARGV[5] > 4096 or not cjson.decode(ARGV[5]).url then error({err = 'ERR not a hook'}) end
local most, field = whole(ARGV[6], 1), 'hook:' .. ARGV[3]
local known = redis.call('HGET', KEYS[1], field)
if known == ARGV[5] then return 1 end
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then return 0 end
if not may_ask(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
if (known or '') ~= ARGV[4] then return -3 end
if not known then
  if string.find(redis.call('HGET', KEYS[1], 'revoked') or '', ARGV[3], 1, true) then return -3 end
  local hooks = 0
  for _, each in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(each, 1, 5) == 'hook:' then hooks = hooks + 1 end
  end
  if hooks >= most then return -2 end
end
redis.call('HSET', KEYS[1], field, ARGV[5])
change_hooks(KEYS[1])
return 1
