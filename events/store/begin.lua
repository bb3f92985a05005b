-- Record in which format and with how many partitions a store is begun. A store that was begun before stays as it is.
-- KEYS  1 {store}:begun   ARGV  1 format  2 number of partitions
-- returns both as the store was begun with them, with a blank between
if KEYS[1] ~= '{store}:begun' then error({err = 'ERR not the key of a store that was begun'}) end
redis.call('SET', KEYS[1], string.format('%d %d', whole(ARGV[1], 1), whole(ARGV[2], 1)), 'NX')
return redis.call('GET', KEYS[1])
