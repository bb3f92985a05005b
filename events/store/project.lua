-- Replace everything that is derived from the stream of a match. Change nothing if the match has moved on.
-- KEYS  1 stream; the other keys of the match and of its partition follow from it
-- ARGV  1 what is derived, in JSON  2 standing  3 number of snapshots  4 number of requests  5.. versions with their snapshots, tags with their
--       versions, then members of the due index with their moments ("" to remove them)
-- derived  head      the version that it is derived from
--          leaf      when the next leaf of the match is due in the server's log, or null
--          updated   the player in whose list of updates the match must be
--          indexes   for each index the moment that orders the match there, or null to leave it
-- returns 1: done | 0: the match has moved on
local stream, none = KEYS[1], cjson.null
local tag, match = partition_and_match(stream, 's')
local of_partition, of_match = tag .. ':', ':' .. match
local derived, first_request = cjson.decode(ARGV[1]), 5 + 2 * whole(ARGV[3], 0)
local first_due = first_request + 2 * whole(ARGV[4], 0)
local head, leaf, requests, snapshots = whole(derived.head, 0), derived.leaf, of_partition .. 'r' .. of_match, of_partition .. 'd' .. of_match
check_moments(derived.indexes)
local updates = of_partition .. 'i:updated:' .. check_text(derived.updated)
if leaf ~= none then leaf = whole(leaf, 0) end
if #ARGV < first_due - 1 or (#ARGV - first_due) % 2 == 0 then error({err = 'ERR the number of arguments does not fit'}) end
for place = first_due + 1, #ARGV, 2 do
  if ARGV[place] ~= '' then whole(ARGV[place], 0) end
end
if redis.call('XLEN', stream) ~= head then return 0 end
redis.call('UNLINK', requests, snapshots)
for place = first_request, first_due - 1, 2 do redis.call('HSET', requests, ARGV[place], ARGV[place + 1]) end
for place = 5, first_request - 1, 2 do redis.call('HSET', snapshots, ARGV[place], ARGV[place + 1]) end
redis.call('SET', of_partition .. 'm' .. of_match, ARGV[2])
set_moment(of_partition .. 'pending', match, leaf)
for name, moment in pairs(derived.indexes) do set_moment(of_partition .. 'i:' .. name, match, moment) end
if not redis.call('ZSCORE', updates, match) then put_last(of_partition, derived.updated, match) end
for place = first_due, #ARGV, 2 do
  set_moment(of_partition .. 'due', ARGV[place], ARGV[place + 1] == '' and none or ARGV[place + 1])
end
return 1
