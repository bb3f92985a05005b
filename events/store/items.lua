-- Return the items of a stream after an id with all their fields, in their order; a client's own command would keep one of each name.
-- KEYS  1 stream   ARGV  1 first id  2 longest page
return redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
