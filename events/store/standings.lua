-- Return the standing and the newest entry of each match.
-- KEYS  for each match its standing, its stream; in a cluster, all of one partition
-- returns for each match: standing or "", newest entry or "" if it cannot be read
local found = {}
for place = 1, #KEYS, 2 do
  local tag, match = partition_and_match(KEYS[place], 'm')
  check_keys(KEYS, place, tag, match, {'m', 's'})
  local items = redis.pcall('XREVRANGE', KEYS[place + 1], '+', '-', 'COUNT', 1)
  table.insert(found, redis.call('GET', KEYS[place]) or '')
  table.insert(found, items[1] and items[1][2] and items[1][2][2] or '')
end
return found
