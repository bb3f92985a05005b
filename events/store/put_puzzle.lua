-- Store a new puzzle of a game. If the game has too many, whoever has the most loses the one that was neither made nor solved for the longest
-- time.
-- KEYS  1 the key of the puzzle  2 the index of its game
-- ARGV  1 the puzzle without its judged actions  2 these, packed  3 the moment when it was made (ms)  4 its difficulty
--       5 how many a game has at most
-- returns 1: stored | 0: it is there already
local id = string.match(KEYS[1], '^{puzzles}:p:(m[a-z2-7]+%-%d+)$')
if not id or not string.match(KEYS[2], '^{puzzles}:g:[%l%d_]+$') then error({err = 'ERR not the keys of a puzzle'}) end
local made, most = whole(ARGV[3], 0), whole(ARGV[5], 1)
if #ARGV[1] > 1000 or #ARGV[2] > 262144 or not string.match(ARGV[4], '^%l+$') then error({err = 'ERR not a puzzle'}) end
local function maker(puzzle) return tostring(cjson.decode(puzzle).by) end
maker(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'puzzle', ARGV[1], 'weighed', ARGV[2], 'kept', made)
redis.call('ZADD', KEYS[2], made, id .. ' ' .. ARGV[4])
if redis.call('ZCARD', KEYS[2]) > most then
  local rows, has, leave = {}, {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    local other = string.match(member, '^(%S+)')
    local found = redis.call('HMGET', '{puzzles}:p:' .. other, 'kept', 'puzzle')
    local by = found[2] and maker(found[2]) or ''
    has[by] = (has[by] or 0) + 1
    rows[#rows + 1] = {member = member, id = other, kept = tonumber(found[1] or 0), by = by}
  end
  for _, row in ipairs(rows) do
    local more = leave and has[row.by] - has[leave.by]
    if row.id ~= id and (not leave or more > 0 or more == 0 and row.kept < leave.kept) then leave = row end
  end
  redis.call('UNLINK', '{puzzles}:p:' .. leave.id)
  redis.call('ZREM', KEYS[2], leave.member)
end
return 1
