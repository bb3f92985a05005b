-- Return the first version of each match since a moment, by halving: the moments of the entries of a match hardly ever fall.
-- KEYS  the stream of each match; in a cluster, all of one partition   ARGV  1 moment (ms since 1970)
-- returns for each match: the version, or its head and one more if there is none; 0 if it is filed away and has an entry since then
local moment, found = whole(ARGV[1], 0), {}
for _, stream in ipairs(KEYS) do
  local tag, match = partition_and_match(stream, 's')
  local low, high = 1, redis.call('XLEN', stream) + 1
  if high == 1 then
    local row = row_of_match(files_of(tag .. ':'), match)
    if row then
      local head, _, _, at = head_of(row)
      low = at < moment and head + 1 or 0
      high = low
    end
  end
  while low < high do
    local middle = math.floor((low + high) / 2)
    local item = item_at(stream, middle)
    local at = item and moment_of(item) or 0
    if 0 < at and at < moment then low = middle + 1 else high = middle end
  end
  table.insert(found, low)
end
return found
