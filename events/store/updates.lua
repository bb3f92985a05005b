-- Return the matches in a list of updates after a moment, in the order of their moments.
-- KEYS  1 index   ARGV  1 moment  2 the most matches
-- returns matches with their moments
local tag, index = string.match(KEYS[1], '^({p%d+}):i:(updated:.*)$')
if not tag then error({err = 'ERR not a list of updates'}) end
local after, most = tonumber(ARGV[1]), whole(ARGV[2], 1)
local live = redis.call('ZRANGE', KEYS[1], string.format('(%d', after), '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
local files, found, place = files_of(tag .. ':'), {}, 1
local group = group_of(files, index)
local reader = group and reader_of(files, group, false, struct.pack('>I6', math.max(0, after)) .. string.rep('\255', 10))
local row, at
if reader then row, at = next_row(reader) end
while #found < 2 * most and (row or live[place]) do
  if row and not (live[place] and tonumber(live[place + 1]) < at) then
    found[#found + 1], found[#found + 2] = id_of('m', row.id), string.format('%d', at)
    row, at = next_row(reader)
  else
    found[#found + 1], found[#found + 2] = live[place], live[place + 1]
    place = place + 2
  end
end
return found
