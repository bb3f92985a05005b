-- Record the format, the number of partitions and a secret of a new store. An existing store is not changed.
-- KEYS  1 {store}:begun   ARGV  1 format  2 number of partitions  3 secret: 64 hex digits
-- returns the format, the number and the secret of the store, separated by spaces
if KEYS[1] ~= '{store}:begun' then error({err = 'ERR not the key of a store that was begun'}) end
if #ARGV[3] ~= 64 or not string.match(ARGV[3], '^%x+$') then error({err = 'ERR not a secret'}) end
redis.call('SET', KEYS[1], string.format('%d %d %s', whole(ARGV[1], 1), whole(ARGV[2], 1), ARGV[3]), 'NX')
return redis.call('GET', KEYS[1])
