-- Return the matches of a partition that pass some filters, in the order of one of its indexes, after a place.
-- KEYS  indexes of the partition
-- ARGV  1 "newest" or "earliest": which moment comes first  2 moment  3 match: the place ("" and "" for the beginning)
--       4 the most matches to find in an index  5 the most to examine in it  6 1: the first filter gives the order, 0: the one with the
--       fewest matches does  7.. for each index the number of its filter: a match must be in one of the indexes of each filter from 1 on,
--       and in none of those of filter 0
-- returns for each index of the filter that gives the order: {matches with their moments, and the place of the last one that was examined
-- if there may be more, else "" and ""}
local tag = string.match(KEYS[1], '^({p%d%d?%d?}):i:')
check_indexes(KEYS, 1, tag or '')
if #ARGV ~= 6 + #KEYS then error({err = 'ERR the numbers of keys and arguments do not fit'}) end
local newest, moment, after, most, bound = ARGV[1] == 'newest', ARGV[2], ARGV[3], whole(ARGV[4], 1), whole(ARGV[5], 1)
local filters, ordering, fewest = {}, 1, nil
for place, key in ipairs(KEYS) do
  local number = whole(ARGV[6 + place], 0)
  filters[number] = filters[number] or {}
  table.insert(filters[number], key)
end
for number, indexes in ipairs(ARGV[6] == '0' and filters or {}) do
  local size = 0
  for _, index in ipairs(indexes) do size = size + redis.call('ZCARD', index) end
  if not fewest or size < fewest then ordering, fewest = number, size end
end

local function passes(match)
  for number, indexes in pairs(filters) do
    if number ~= ordering then
      local inside = false
      for _, index in ipairs(indexes) do inside = inside or redis.call('ZSCORE', index, match) ~= false end
      if inside ~= (number > 0) then return false end
    end
  end
  return true
end

local function some(index, first, last)
  if newest then return redis.call('ZRANGE', index, first, last, 'REV', 'WITHSCORES') end
  return redis.call('ZRANGE', index, first, last, 'WITHSCORES')
end

-- Return how many matches of an index come before those after the place. Those of the same moment are in the order of their ids.
local function passed(index)
  if moment == '' then return 0 end
  local low = newest and redis.call('ZCOUNT', index, '(' .. moment, '+inf') or redis.call('ZCOUNT', index, '-inf', '(' .. moment)
  local high = low + redis.call('ZCOUNT', index, moment, moment)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local match = some(index, middle, middle)[1]
    if (newest and match < after) or (not newest and match > after) then high = middle else low = middle + 1 end
  end
  return low
end

local answer = {}
for _, index in ipairs(filters[ordering]) do
  local rank, found, examined, at, last = passed(index), {}, 0, '', ''
  local page = some(index, rank, rank + most - 1)
  while #page > 0 and #found < 2 * most and examined < bound do
    for place = 1, #page, 2 do
      last, at, examined, rank = page[place], page[place + 1], examined + 1, rank + 1
      if passes(last) then
        table.insert(found, last)
        table.insert(found, at)
      end
      if #found == 2 * most or examined == bound then break end
    end
    page = some(index, rank, rank + most - 1)
  end
  if #page == 0 then at, last = '', '' end
  table.insert(answer, {found, at, last})
end
return answer
