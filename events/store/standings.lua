-- Return what lists show of each match.
-- KEYS  the stream of each match; in a cluster, all of one partition
-- returns for each match: standing or "", newest entry or "" if it cannot be read; of one that is filed away the game and the row
local found, files = {}, {}
for _, stream in ipairs(KEYS) do
  local tag, match = partition_and_match(stream, 's')
  local items = redis.pcall('XREVRANGE', stream, '+', '-', 'COUNT', 1)
  local standing, entry, kind = redis.call('GET', tag .. ':m:' .. match) or '', items[1] and items[1][2] and items[1][2][2] or '', ''
  if standing == '' and entry == '' then
    files[tag] = files[tag] or files_of(tag .. ':')
    local row = row_of_match(files[tag], match)
    if row then
      local _, names = games_of(files[tag])
      standing, entry, kind = names[row.game], row.raw, 'filed'
    end
  end
  table.insert(found, {standing, entry, kind})
end
return found
