-- Derive the index of what hooks have to send from the cursors. What is not in it is due at once.
-- KEYS  1 hooks; the key with the cursors follows from it
-- returns the number of things that were added or removed
local tag = string.match(KEYS[1], '^({p%d%d?%d?}):hooks$')
if not tag then error({err = 'ERR not the key of the hooks'}) end
local changed = 0
for _, item in ipairs(redis.call('HKEYS', tag .. ':cursors')) do changed = changed + redis.call('ZADD', KEYS[1], 'NX', 0, item) end
for _, item in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if redis.call('HEXISTS', tag .. ':cursors', item) == 0 then changed = changed + redis.call('ZREM', KEYS[1], item) end
end
return changed
