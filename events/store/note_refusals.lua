-- Keep refused actions of seats in the side log of a match: at most 50 of a seat and 200 of the match. The oldest are dropped and counted.
-- KEYS  1 refused actions  2 stream
-- ARGV  1 mark of this call  2 number of actions dropped before this call  3.. pairs of a seat and an action in JSON
-- The field `order` has the number and the seat of each kept action, newest first. So no call reads the actions themselves.
-- returns 1: done | 0: there is no such match, or this call is a repetition
local MOST_OF_SEAT, MOST, LONGEST = 50, 200, 2000
local tag, match = partition_and_match(KEYS[1], 'f')
check_keys(KEYS, 2, tag, match, {'s'})
local gone = whole(ARGV[2], 0)
if #KEYS ~= 2 or #ARGV < 4 or #ARGV % 2 == 1 or #ARGV > 2 + 2 * MOST or #ARGV[1] > 64 then
  error({err = 'ERR the number of keys or arguments does not fit'})
end
for place = 3, #ARGV, 2 do
  if #ARGV[place] > 32 or not string.match(ARGV[place], '^[a-z][a-z0-9_]*$') then error({err = 'ERR not a seat'}) end
  if #ARGV[place + 1] > LONGEST then error({err = 'ERR the action is too long'}) end
end
if redis.call('XLEN', KEYS[2]) == 0 or redis.call('HGET', KEYS[1], 'mark') == ARGV[1] then return 0 end
gone = gone + (redis.call('HGET', KEYS[1], 'gone') or 0)
local last = tonumber(redis.call('HGET', KEYS[1], 'last') or 0)
local numbers, seats = {}, {}
for place = #ARGV - 1, 3, -2 do
  numbers[#numbers + 1], seats[#seats + 1] = string.format('%d', last + (place - 1) / 2), ARGV[place]
  redis.call('HSET', KEYS[1], numbers[#numbers], ARGV[place + 1])
end
last = last + #numbers
for number, seat in string.gmatch(redis.call('HGET', KEYS[1], 'order') or '', '(%d+) (%S+)') do
  numbers[#numbers + 1], seats[#seats + 1] = number, seat
end
local order, of_seat = {}, {}
for place, number in ipairs(numbers) do
  local seat = seats[place]
  local before = of_seat[seat] or 0
  if #order < MOST and before < MOST_OF_SEAT then
    of_seat[seat] = before + 1
    order[#order + 1] = number .. ' ' .. seat
  else
    redis.call('HDEL', KEYS[1], number)
    gone = gone + 1
  end
end
redis.call('HSET', KEYS[1], 'order', table.concat(order, ' '), 'mark', ARGV[1], 'last', string.format('%d', last))
redis.call('HSET', KEYS[1], 'gone', string.format('%d', gone))
return 1
