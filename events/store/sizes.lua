-- Return how many matches some indexes have.
-- KEYS  indexes; in a cluster, all of one partition   ARGV  1 count only matches up to this moment ("" for all)
-- returns the number of matches of each index
local found, files = {}, {}
for place, key in ipairs(KEYS) do
  local tag, index = string.match(key, '^({p%d+}):i:(.*)$')
  if not tag then error({err = 'ERR not an index'}) end
  files[tag] = files[tag] or files_of(tag .. ':')
  local filed_away = number_filed(files[tag], index)
  if ARGV[1] == '' then
    found[place] = redis.call('ZCARD', key) + filed_away
  else
    local moment = whole(ARGV[1], 0)
    if filed_away > 0 then
      local reader = reader_of(files[tag], (group_of(files[tag], index)), true, '')
      local row, at = next_row(reader)
      while row and at > moment do
        filed_away = filed_away - 1
        row, at = next_row(reader)
      end
    end
    found[place] = redis.call('ZCOUNT', key, '-inf', string.format('%d', moment)) + filed_away
  end
end
return found
