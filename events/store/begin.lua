-- Record the format and the number of partitions of a new store. An existing store is not changed.
-- KEYS  1 {store}:begun   ARGV  1 format  2 number of partitions
-- returns the format and the number of the store, separated by a space
if KEYS[1] ~= '{store}:begun' then error({err = 'ERR not the key of a store that was begun'}) end
redis.call('SET', KEYS[1], string.format('%d %d', whole(ARGV[1], 1), whole(ARGV[2], 1)), 'NX')
return redis.call('GET', KEYS[1])
