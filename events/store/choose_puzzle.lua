-- Make a puzzle the puzzle of a day, unless the day has one that is there. Forget all but the newest days.
-- KEYS  1 the puzzles by day
-- ARGV  1 the day, in days since 1970  2 the id of the puzzle  3 how many days to remember
-- returns the id of the puzzle of the day
local days = KEYS[1]
if days ~= '{puzzles}:days' then error({err = 'ERR not the puzzles by day'}) end
local day, most = whole(ARGV[1], 0), whole(ARGV[3], 1)
if not string.match(ARGV[2], '^m[a-z2-7]+%-%d+$') or #ARGV[2] > 40 then error({err = 'ERR not a puzzle'}) end
local known = redis.call('HGET', days, ARGV[1])
if known and redis.call('EXISTS', '{puzzles}:p:' .. known) == 1 then return known end
redis.call('HSET', days, ARGV[1], ARGV[2])
for _, other in ipairs(redis.call('HKEYS', days)) do
  if math.abs(tonumber(other) - day) >= most then redis.call('HDEL', days, other) end
end
return ARGV[2]
