-- Drop the keys that have another type than their names say. Everything on this server may be lost.
-- returns the number of keys that were dropped
local TYPES = {  -- patterns of names, the first that fits counts
  {'^fair:[^:]*:of:', 'zset'}, {'^fair:[^:]*:taken:', 'string'}, {'^fair:wake:', 'list'}, {'^fair:idle$', 'zset'},
  {'^fair:[^:]*:spent$', 'zset'}, {'^fair:[^:]*:creators$', 'zset'}, {'^fair:[^:]*:clock$', 'hash'}, {'^fair:[^:]*:versions$', 'hash'},
  {'^fair:[^:]*:called$', 'string'}, {'^fair:[^:]*:alone$', 'string'},
  {'^study:of:', 'set'}, {'^study:done:', 'zset'}, {'^study:.*:parts$', 'list'}, {'^study:', 'hash'},
  {'^{limits}:held:', 'hash'}, {'^{limits}:', 'string'},
  {'^rq:queue:[^:]*$', 'list'}, {'^rq:queues$', 'set'}, {'^rq:workers', 'set'}, {'^rq:worker:[^:]*$', 'hash'}, {'^rq:job:[^:]*$', 'hash'},
  {'^rq:wip:', 'zset'}, {'^rq:finished:', 'zset'}, {'^rq:failed:', 'zset'}, {'^rq:deferred:', 'zset'}, {'^rq:scheduled:', 'zset'},
  {'^rq:canceled:', 'zset'}
}

local function readable(key)
  for _, each in ipairs(TYPES) do
    if string.match(key, each[1]) then return redis.call('TYPE', key).ok == each[2] end
  end
  return true
end

local dropped, cursor = 0, '0'
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    if not readable(key) then dropped = dropped + redis.call('UNLINK', key) end
  end
until cursor == '0'
return dropped
