-- Note again which leaves of a server's log a match has, when it comes back from the archive. The field `back` counts how often it has, so that an
-- archivist who is late forgets nothing (forget_leaves.lua).
-- KEYS  1 the leaves of the match   ARGV  names of leaves with their fields
-- returns 1
if not string.match(KEYS[1], '^{log}:%x+:m:m[a-z2-7]+$') then error({err = 'ERR not the key of the leaves of a match'}) end
if #ARGV == 0 or #ARGV % 2 == 1 then error({err = 'ERR the number of arguments does not fit'}) end
for place = 1, #ARGV, 2 do
  if not string.match(ARGV[place], '^%l+:%d+$') or not string.match(ARGV[place + 1], '^%d+ %d+ %x+ %d+ %d+$') then error({err = 'ERR not a leaf'}) end
end
for place = 1, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[1], ARGV[place]) == 0 then redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1]) end
end
redis.call('HSET', KEYS[1], 'back', string.format('%d', tonumber(redis.call('HGET', KEYS[1], 'back') or 0) + 1))
return 1
