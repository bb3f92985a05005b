-- Tell a partition which hooks a player has, unless it knows of later ones.
-- KEYS  1 hooked
-- ARGV  1 player  2 how often the hooks of the player have changed  3 the hooks, as ` id` or ` id:match`; `*` before the id for an organiser's
--       4 "" to leave later ones, or "anew"
-- returns 1: told | 0: the partition knows of later hooks
if not string.match(KEYS[1], '^{p%d%d?%d?}:hooked$') then error({err = 'ERR not the key of the hooked'}) end
if not string.match(ARGV[1], '^p[a-z2-7]+$') or not string.match(ARGV[3], '^[%w :*]*$') then error({err = 'ERR not a player with hooks'}) end
local changes = whole(ARGV[2], 0)
local known = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^%d+')
if ARGV[4] ~= 'anew' and known and tonumber(known) > changes then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', changes) .. ARGV[3])
end
return 1
