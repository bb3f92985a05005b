-- Return what lists show of each match.
-- KEYS  the stream of each match; in a cluster, all of one partition
-- returns for each match: standing or "", newest item and its id, or "" and "" if it cannot be read; of one that is filed away the game, the row and
--         "filed"
local found, files = {}, {}
for _, stream in ipairs(KEYS) do
  local tag, match = partition_and_match(stream, 's')
  local last = (redis.pcall('XREVRANGE', stream, '+', '-', 'COUNT', 1) or {})[1]
  local standing, item, id = redis.call('GET', tag .. ':m:' .. match) or '', '', ''
  if last and last[2] then item, id = last[2][2], last[1] end
  if standing == '' and item == '' then
    files[tag] = files[tag] or files_of(tag .. ':')
    local row = row_of_match(files[tag], match)
    if row then
      local _, names = games_of(files[tag])
      standing, item, id = names[row.game], row.raw, 'filed'
    end
  end
  table.insert(found, {standing, item, id})
end
return found
