-- Remove a puzzle.
-- KEYS  1 the key of the puzzle  2 the index of its game
-- returns 1: removed | 0: there is no such puzzle
local id = string.match(KEYS[1], '^{puzzles}:p:(m[a-z2-7]+%-%d+)$')
if not id or not string.match(KEYS[2], '^{puzzles}:g:[%l%d_]+$') then error({err = 'ERR not the keys of a puzzle'}) end
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('UNLINK', KEYS[1])
for _, each in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if string.match(each, '^(%S+)') == id then redis.call('ZREM', KEYS[2], each) end
end
return 1
