-- Store ratings of a game that count further matches, or change nothing if another process was faster.
-- KEYS  1 what all ratings of the game count; the keys of a generation follow from it
-- ARGV  1 number of the generation  2 its mark as the caller knows it ("" if it is new)  3 its new mark
--       4 "1" to serve this generation from now on, and to remove all others, else ""
--       then for each player the id, the rating, and the score that orders the list
-- returns 1: stored | 0: the generation has another mark
local state = KEYS[1]
if not string.match(state, '^{ratings}:[%l%d_]+$') then error({err = 'ERR not the key of ratings'}) end
local generation = string.format('%d', whole(ARGV[1], 1))
if #ARGV < 4 or (#ARGV - 4) % 3 ~= 0 then error({err = 'ERR the number of arguments does not fit'}) end
if ARGV[3] == '' or #ARGV[3] > 500 then error({err = 'ERR not a mark'}) end
for place = 5, #ARGV, 3 do
  if #ARGV[place] > 40 or #ARGV[place + 1] > 200 or not string.match(ARGV[place + 2], '^%-?%d+$') then error({err = 'ERR not a rating'}) end
end
if (redis.call('HGET', state, 'mark:' .. generation) or '') ~= ARGV[2] then return 0 end
local players, order = state .. ':' .. generation .. ':players', state .. ':' .. generation .. ':order'
for place = 5, #ARGV, 3 do
  redis.call('HSET', players, ARGV[place], ARGV[place + 1])
  redis.call('ZADD', order, ARGV[place + 2], ARGV[place])
end
redis.call('HSET', state, 'mark:' .. generation, ARGV[3])
if ARGV[4] == '1' then
  redis.call('HSET', state, 'serving', generation)
  for _, field in ipairs(redis.call('HKEYS', state)) do
    local other = string.match(field, '^mark:(%d+)$')
    if other and other ~= generation then
      redis.call('HDEL', state, field)
      redis.call('UNLINK', state .. ':' .. other .. ':players', state .. ':' .. other .. ':order')
    end
  end
end
return 1
