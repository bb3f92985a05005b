-- Note a delivery of a hook. The newest ones stay, in a ring. A deleted hook has none.
-- KEYS  1 player
-- ARGV  1 id of the hook  2 the delivery in JSON  3 most deliveries  4 the moment, if it arrived ("" otherwise)
-- returns 1: noted | 0: no such player or hook
local id = player_of(KEYS[1])
check_hook(ARGV[1])
if #ARGV[2] > 4096 or not cjson.decode(ARGV[2]).id then error({err = 'ERR not a delivery'}) end
local most = whole(ARGV[3], 1)
if redis.call('HEXISTS', KEYS[1], 'hook:' .. ARGV[1]) == 0 then return 0 end
local deliveries = deliveries_of(id, ARGV[1])
local number = tonumber(redis.call('HGET', deliveries, 'number') or '0')
redis.call('HSET', deliveries, string.format('%d', number % most), ARGV[2], 'number', string.format('%d', number + 1))
if ARGV[4] ~= '' then redis.call('HSET', deliveries, 'arrived', string.format('%d', whole(ARGV[4], 0))) end
return 1
