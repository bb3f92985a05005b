-- Count a try of a puzzle.
-- KEYS  1 the key of the puzzle
-- ARGV  1 "1" if it solved the puzzle, else ""  2 the moment (ms)
-- returns {how often it was tried, how often it was solved}; {} if there is no such puzzle
local key = KEYS[1]
if not string.match(key, '^{puzzles}:p:m[a-z2-7]+%-%d+$') then error({err = 'ERR not the key of a puzzle'}) end
local now = whole(ARGV[2], 0)
if redis.call('EXISTS', key) == 0 then return {} end
local function more(name, by)
  local count = math.min(tonumber(redis.call('HGET', key, name) or 0) + by, 999999999)
  redis.call('HSET', key, name, count)
  return count
end
local solves = ARGV[1] == '1'
if solves then redis.call('HSET', key, 'kept', math.max(now, tonumber(redis.call('HGET', key, 'kept') or 0))) end
return {more('tried', 1), more('solved', solves and 1 or 0)}
