-- Append entries to the stream of a match, and update everything that is derived from them. This is atomic.
-- KEYS  1 stream; the other keys of the match and of its partition follow from it
-- ARGV  1 change, in JSON  2 standing ("" unchanged)  3 snapshot ("" for none)  4 the digest of the entry at the expected version, to check it, in
--       32 bytes ("" not to check)  5.. items of the entries (packed.py); the last one has the tag of the request that the entries answer
-- change  expected  the version before the entries
--         most      how many entries to return at most if the match is at another version
--         snapshot  the version of the snapshot
--         replaces  the older version whose snapshot it replaces
--         secret    in hex, when the match is created
--         leaf      when the next leaf of the match is due in the server's log, unless one is due earlier
--         indexes   for each index that the match enters or leaves the moment that orders the match there, or null to leave it
--         updated   the player in whose list of updates the match comes last from now on
--         due       for each member of the due index its moment, or null to remove it
--         seat      the seat that gets a receipt of the entries, which names the side log of the match
--         tell      the players whom the entries tell something, as text: each after a blank, and the organiser also after `*`
--         A missing member changes nothing.
-- returns {1, reads, refused}: appended; both are running hashes in the side log, of the reads by staff and of the refused actions of the seat
--       | {0, head, tail}: the match is at another version; head -1: another entry has the expected version, or the last item
--         is none of a version; head -2: the match is filed away
--       | {2, its entries}: the request was carried out before
local stream, none = KEYS[1], cjson.null
local tag, match = partition_and_match(stream, 's')
local of_partition, of_match = tag .. ':', ':' .. match
local change, entries, digest = cjson.decode(ARGV[1]), #ARGV - 4, ARGV[4]
local expected, most = whole(change.expected, 0), whole(change.most, 1)
local snapshot, replaces, secret, leaf = change.snapshot, change.replaces, change.secret, change.leaf
local indexes, due, tell, updated, seat = change.indexes or {}, change.due or {}, change.tell or '', change.updated, change.seat
if entries < 1 then error({err = 'ERR there are no entries'}) end
if digest ~= '' and #digest ~= 32 then error({err = 'ERR a digest has 32 bytes'}) end
for place = 5, #ARGV do check_item(ARGV[place]) end
if snapshot then snapshot = string.format('%d', whole(snapshot, 1)) end
if snapshot and replaces ~= none then replaces = string.format('%d', whole(replaces, 1)) end
if secret and not (expected == 0 and #check_text(secret) == 64 and string.match(secret, '^%x+$')) then
  error({err = 'ERR a secret is 32 bytes in hex, and is given when the match is created'})
end
if leaf then leaf = whole(leaf, 0) end
if updated then check_text(updated) end
if seat then check_text(seat) end
check_moments(indexes)
check_moments(due)
if tell ~= '' and not string.match(check_text(tell), '^[%w *]+$') then error({err = 'ERR the players to tell are not ids'}) end
local requests, request = of_partition .. 'r' .. of_match, tag_of({'', {'e', ARGV[#ARGV]}})
-- If the head is the expected version, `requests` has the tags of all but the newest items up to a multiple of BLOCK.
local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', request and math.max(1, expected % BLOCK) or 1)
if request and newest[1] and item_version(newest[1]) ~= expected then
  newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', BLOCK)
end
local answer = request and answer_to(stream, requests, request, newest)
if answer then return {2, answer} end
local last = newest[1]
local head = last and (item_version(last) or -1) or 0
-- The store may have lost entries that the caller knows (a power cut without fsync, a failover), and accepted others.
if digest ~= '' and 0 < expected and expected <= head then
  if expected < head then last = item_at(stream, expected) end
  if not has_digest(last, digest) then return {0, -1, {}} end
end
if head == 0 and expected == 0 and filed(of_partition, match) then return {0, -2, {}} end
if head ~= expected then
  return {0, head, redis.call('XRANGE', stream, string.format('%d-0', expected + 1), '+', 'COUNT', most)}
end
for place = 1, entries do
  redis.call('XADD', stream, string.format('%d', expected + place), 'e', ARGV[4 + place])
end
note_requests(stream, requests, expected, expected + entries)
if ARGV[2] ~= '' then redis.call('SET', of_partition .. 'm' .. of_match, ARGV[2]) end
if snapshot then
  local snapshots = of_partition .. 'd' .. of_match
  redis.call('HSET', snapshots, snapshot, ARGV[3])
  if replaces ~= none then redis.call('HDEL', snapshots, replaces) end
end
if secret then redis.call('SET', of_partition .. 'x' .. of_match, secret, 'NX') end
if leaf then redis.call('ZADD', of_partition .. 'pending', 'LT', leaf, match) end
for name, moment in pairs(indexes) do set_moment(of_partition .. 'i:' .. name, match, moment) end
if updated then put_last(of_partition, updated, match) end
for member, moment in pairs(due) do set_moment(of_partition .. 'due', member, moment) end
if tell ~= '' and redis.call('EXISTS', of_partition .. 'hooked') == 1 then  -- hooks of these players have something to send
  local stars, players, added = {}, {}, false
  for star, player in string.gmatch(tell, '(%*?)(%w+)') do stars[#stars + 1], players[#players + 1] = star, player end
  for place, hooks in ipairs(redis.call('HMGET', of_partition .. 'hooked', unpack(players))) do
    for star, hook, only in string.gmatch(hooks or '', ' (%*?)(h%w+):?(%w*)') do
      if star == stars[place] and (only == '' or only == match) then
        added = add_hook(of_partition, match .. '|' .. players[place] .. '/' .. hook, expected) or added
      end
    end
  end
  if added then redis.call('PUBLISH', of_partition .. 'hooks', match) end
end
if tell ~= '' then tell = string.format(' %d', expected + 1) .. tell end
redis.call('PUBLISH', of_partition .. 'heads', match .. ' ' .. string.format('%d', expected + entries) .. tell)
if not seat then return {1} end
local sidelog = redis.call('HMGET', of_partition .. 'w' .. of_match, 'head', 'head:' .. seat)
return {1, sidelog[1], sidelog[2]}
