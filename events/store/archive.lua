-- Remove a finished match that the archive has, with everything that belongs to it, and file it away. Only the archivist may.
-- KEYS  1 stream; the other keys of the match and of its partition follow from it
-- ARGV  1 the running hashes of the side log by field, in JSON  2 game  3 row  4.. names of indexes of news
-- returns 1: the match is filed away, by this or an earlier attempt | 0: it has changed, or still needs a leaf in the server's log
local stream = KEYS[1]
local tag, match = partition_and_match(stream, 's')
local of_partition, expected = tag .. ':', cjson.decode(ARGV[1])
local row = as_row(ARGV[3], 0)
local head, digest = head_of(row)
if redis.call('XLEN', stream) == 0 then return filed(of_partition, match) == as_away(row) and 1 or 0 end
local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
if last[1] ~= string.format('%d-0', head) or not has_digest(last, digest) then return 0 end
if redis.call('ZSCORE', of_partition .. 'pending', match) then return 0 end
local sidelog = redis.call('HGETALL', of_partition .. 'w:' .. match)
for place = 1, #sidelog, 2 do
  if string.sub(sidelog[place], 1, 4) == 'head' then
    if expected[sidelog[place]] ~= sidelog[place + 1] then return 0 end
    expected[sidelog[place]] = nil
  end
end
if next(expected) then return 0 end
redis.call('XTRIM', stream, 'MAXLEN', head)  -- which removes nothing, and which nobody but the archivist may call
file_away(of_partition, match, ARGV[2], ARGV[3], {unpack(ARGV, 4)})
for _, kind in ipairs({'s', 'r', 'd', 'x', 'f', 'w'}) do redis.call('UNLINK', of_partition .. kind .. ':' .. match) end
redis.call('ZREM', of_partition .. 'refused', match)
return 1
