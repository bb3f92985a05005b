-- Write a match that is filed away into the store again, with everything that is derived from it, or change nothing at all.
-- KEYS  1 stream; the other keys of the match and of its partition follow from it
-- ARGV  1 what belongs to it, in JSON  2 standing  3.. versions with their snapshots, tags of requests with their versions, fields of the refused
--       actions with their values, fields of the reads with their values, then the items of the entries
-- what  head, digest, object   how it is filed away
--       secret    in hex
--       updated   the player in whose list of updates the match must be
--       indexes   for each index the moment that orders the match there
--       due       for each member of the due index its moment
--       snapshots, requests, refused, reads   how many there are of each in ARGV
-- returns 1: it is in the store, by this or an earlier attempt | 0: it is not filed away like that
local stream = KEYS[1]
local tag, match = partition_and_match(stream, 's')
local of_partition, of_match = tag .. ':', ':' .. match
local what, first = cjson.decode(ARGV[1]), 3
local head, digest = whole(what.head, 1), check_text(what.digest)
local numbers = {{'d', whole(what.snapshots, 0)}, {'r', whole(what.requests, 0)}, {'f', whole(what.refused, 0)}, {'w', whole(what.reads, 0)}}
check_moments(what.indexes)
check_moments(what.due)
check_text(what.updated)
if #check_text(what.secret) ~= 64 or not string.match(what.secret, '^%x+$') then error({err = 'ERR a secret is 32 bytes in hex'}) end
local entries = 3
for _, each in ipairs(numbers) do entries = entries + 2 * each[2] end
if #ARGV ~= entries + head - 1 or not has_digest({'', {'e', ARGV[#ARGV]}}, digest) then error({err = 'ERR these are not the entries'}) end
for place = entries, #ARGV do check_item(ARGV[place]) end
if redis.call('XLEN', stream) > 0 then return 1 end
if filed(of_partition, match) ~= string.format('%d %s %s', head, digest, check_text(what.object)) then return 0 end
for version = 1, head do redis.call('XADD', stream, string.format('%d', version), 'e', ARGV[entries + version - 1]) end
redis.call('SET', of_partition .. 'x' .. of_match, what.secret)
redis.call('SET', of_partition .. 'm' .. of_match, ARGV[2])
for _, each in ipairs(numbers) do
  for _ = 1, each[2] do
    redis.call('HSET', of_partition .. each[1] .. of_match, ARGV[first], ARGV[first + 1])
    first = first + 2
  end
end
if what.refused > 0 then redis.call('ZADD', of_partition .. 'refused', now_ms(), match) end
take_out(of_partition, match)
for name, moment in pairs(what.indexes) do set_moment(of_partition .. 'i:' .. name, match, moment) end
for member, moment in pairs(what.due) do set_moment(of_partition .. 'due', member, moment) end
local updates = of_partition .. 'i:updated:' .. what.updated
if not redis.call('ZSCORE', updates, match) then put_last(of_partition, what.updated, match) end
return 1
