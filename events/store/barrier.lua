-- Write something that goes to the replicas alone. A WAIT after it on the same connection covers all that this server has done before (ADR 120).
-- KEYS  1 {…}:barrier, in the partition of what was read or written   returns 1
if not string.match(KEYS[1], '^{%l+%d?%d?%d?}:barrier$') then error({err = 'ERR not the key of a barrier'}) end
redis.set_repl(redis.REPL_REPLICA)
redis.call('SET', KEYS[1], '')
return 1
