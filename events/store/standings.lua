-- Return the standing and the newest entry of each match.
-- KEYS  the stream of each match; in a cluster, all of one partition
-- returns for each match: standing or "", newest entry or "" if it cannot be read
local found = {}
for _, stream in ipairs(KEYS) do
  local tag, match = partition_and_match(stream, 's')
  local items = redis.pcall('XREVRANGE', stream, '+', '-', 'COUNT', 1)
  table.insert(found, redis.call('GET', tag .. ':m:' .. match) or '')
  table.insert(found, items[1] and items[1][2] and items[1][2][2] or '')
end
return found
