-- File away a match that the archive has and whose entries the store has not. What lists show of it stays the same.
-- KEYS  1 stream; the other keys of the match and of its partition follow from it
-- ARGV  1 game  2 row  3.. names of indexes of news
-- returns 1: it is filed away | 0: its entries are in the store, or it is filed away at a later version, or with another entry there
local tag, match = partition_and_match(KEYS[1], 's')
if redis.call('XLEN', KEYS[1]) > 0 then return 0 end
local files = files_of(tag .. ':')
local row = row_of_match(files, match)
local head, digest = head_of(as_row(ARGV[2], 0))
if row then
  local known, other = head_of(row)
  if known > head or (known == head and other ~= digest) then return 0 end
end
file_away(tag .. ':', match, ARGV[1], ARGV[2], {unpack(ARGV, 3)})
return 1
