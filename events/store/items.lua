-- Return the items of a stream after an id, with all fields in order. (redis-py would keep only one field of each name.)
-- KEYS  1 stream   ARGV  1 first id  2 longest page
return redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
