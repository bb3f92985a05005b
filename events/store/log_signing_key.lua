-- Note that the server's log lacks what a signing key became, or that it has all.
-- KEYS  1 player   ARGV  1 the signing key, in base64  2 the key as it was read, without its name  3 the moment since when the log lacks it, or ""
-- returns 1: noted | 0: the key has changed since
local id = player_of(KEYS[1])
check_signing_key(ARGV[1])
local moment = ARGV[3] ~= '' and whole(ARGV[3], 1)
if redis.call('HGET', signing_keys_of(id), ARGV[1]) ~= ARGV[2] then return 0 end
if moment then
  redis.call('ZADD', UNLOGGED, moment, id .. ' ' .. ARGV[1])
else
  redis.call('ZREM', UNLOGGED, id .. ' ' .. ARGV[1])
end
return 1
