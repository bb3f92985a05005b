-- Record with how many partitions a store is begun. A store that was begun before stays as it is.
-- KEYS  1 {store}:partitions   ARGV  1 number of partitions
-- returns the number with which the store was begun
if KEYS[1] ~= '{store}:partitions' then error({err = 'ERR not the key of the number of partitions'}) end
redis.call('SET', KEYS[1], whole(ARGV[1], 1), 'NX')
return redis.call('GET', KEYS[1])
