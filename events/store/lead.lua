-- Take or renew the lease of the server's log. Only its holder may add leaves and publish; the number grows with each change (ADR 121).
-- KEYS  1 state   ARGV  1 holder: 16 hex digits  2 for how many ms  3 the lease that the caller has ("" for none)
-- returns the lease, as `<number> <holder>` | 0: somebody else holds it
server_log_of(KEYS[1], 'state')
local ms, now = whole(ARGV[2], 0), now_ms()
if #ARGV[1] ~= 16 or string.find(ARGV[1], '[^0-9a-f]') or ms > 60000 then error({err = 'ERR not a holder and its time'}) end
local lease, leased = unpack(redis.call('HMGET', KEYS[1], 'lease', 'leased'))
local number, holder = string.match(lease or '0 ', '^(%d+) (%x*)$')
local left = tonumber(leased or 0) - now
if holder ~= ARGV[1] and 0 < left and left <= 60000 then return 0 end  -- more is the clock of another server, from which this one took over
if not lease or lease ~= ARGV[3] then lease = string.format('%d %s', tonumber(number) + 1, ARGV[1]) end
redis.call('HSET', KEYS[1], 'lease', lease, 'leased', string.format('%d', now + ms))
return lease
