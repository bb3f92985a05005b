-- Return the matches in a list of updates after a place, in their order, and note up to where they were given: from there on a change moves a match.
-- KEYS  1 list of updates of a player   ARGV  1 moment  2 "mark" if a reader was given the places up to the moment, else ""  3 the most matches
-- returns matches with their moments
-- If the store has lost what was given, as by a failover, the places between come again: matches may have changed without moving.
local tag, player = string.match(KEYS[1], '^({p%d%d?%d?}):i:updated:(p[a-z2-7]+)$')
if not tag then error({err = 'ERR not a list of updates'}) end
local asked, most, known = whole(ARGV[1], -1), whole(ARGV[3], 1), tag .. ':given'
local given = tonumber(redis.call('HGET', known, player) or 0)
local after = ARGV[2] == 'mark' and math.min(asked, given) or asked - UNREAD_MS
local live = redis.call('ZRANGE', KEYS[1], string.format('(%d', after), '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
local files, found, place = files_of(tag .. ':'), {}, 1
local group = group_of(files, 'updated:' .. player)
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
local last = math.max(given, math.min(asked, now_ms()), tonumber(found[#found] or 0))
if last > given then redis.call('HSET', known, player, string.format('%d', last)) end
return found
