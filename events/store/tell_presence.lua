-- Tell the web processes how many follow matches of a partition in one of them. Nothing is stored.
-- KEYS  1 the stream of one of the matches   ARGV  1 the process  2 … for each match a row, as heads.py reads it
-- returns 1
local tag = partition_and_match(KEYS[1], 's')
if #ARGV < 2 or #ARGV > 101 then error({err = 'ERR the number of arguments does not fit'}) end
for place, row in ipairs(ARGV) do
  if #row > 400 or not string.match(row, place == 1 and '^%x+$' or '^m%w+ [01] %d+[ %w]*$') then error({err = 'ERR not a row'}) end
end
redis.call('PUBLISH', tag .. ':heads', '* here ' .. table.concat(ARGV, '\n'))
return 1
