-- Return matches that pass some filters, in the order of the indexes of the first filter, after a place. The indexes of players who must act are
-- ordered by deadlines. For "newest" they are sorted by the creation of the matches.
-- KEYS  indexes, of one partition in a cluster, else of any number
-- ARGV  1 "newest" or "earliest": which moment comes first  2 moment  3 match: the place ("" and "" for the beginning)
--       4 the most matches to find  5 the most to examine  6.. for each index the number of its filter: in the indexes of its partition, a
--       match must be in one of each filter from 1 on, and in none of filter 0
-- returns {matches with their moments, and the place of the last one that was examined if there may be more, else "" and ""}
if #ARGV ~= 5 + #KEYS then error({err = 'ERR the numbers of keys and arguments do not fit'}) end
local newest, moment, after, most, bound = ARGV[1] == 'newest', ARGV[2], ARGV[3], whole(ARGV[4], 1), whole(ARGV[5], 1)
local to_sort = 1000  -- matches that one call sorts at most
local numbers, partitions, files, groups = {}, {}, {}, {}  -- `groups`: of matches that are filed away, by the keys of indexes
for place, key in ipairs(KEYS) do
  local tag, name = string.match(key, '^({p%d+}):i:(.*)$')
  local number = ARGV[5 + place]
  if not tag then error({err = 'ERR not an index'}) end
  files[tag] = files[tag] or files_of(tag .. ':')
  groups[key] = group_of(files[tag], name)
  numbers[number] = numbers[number] or whole(number, 0)
  number = numbers[number]
  local filters = partitions[tag] or {}
  partitions[tag] = filters
  filters[number] = filters[number] or {}
  table.insert(filters[number], key)
end

-- Return true if a match passes all filters but the first. `row`: of a match that is filed away, else nil.
local function passes(match, source, row)
  for number, indexes in pairs(source.filters) do
    if number ~= 1 then
      local inside = false
      for _, index in ipairs(indexes) do
        inside = inside or (row and groups[index] and is_in(source.files, row, groups[index])) or redis.call('ZSCORE', index, match) ~= false
      end
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

-- The indexes that are read, each with its next matches: a few at first, then more. `heads` has the moment of each one's next match, so that
-- the greatest comes first; false at its end.
local sources, heads, ids, sign = {}, {}, {}, newest and 1 or -1

local function advance(number)
  local source = sources[number]
  if source.reader then
    local row, at = next_row(source.reader)
    source.row, source.at = row, at
    ids[number] = row and id_of('m', row.id)
    heads[number] = row and sign * at or false
    return
  end
  source.place = source.place + 2
  if source.place > #source.page and source.index then
    source.rank = source.rank + #source.page / 2
    source.page, source.place = some(source.index, source.rank, source.rank + source.size - 1), 1
    source.size = 32
  end
  ids[number], source.at = source.page[source.place], source.page[source.place + 1]
  heads[number] = ids[number] and sign * source.at or false
end

local function add(source)
  table.insert(sources, source)
  advance(#sources)
end

local function add_index(index, filters, tag)
  add({index = index, filters = filters, files = files[tag], rank = passed(index), page = {}, place = 0, size = 4})
end

-- Add an index of a player who must act, in the order of creation. If that is too much to sort, read the index of that player's matches instead.
local function add_acting(start, index, player, filters, tag)
  local number = redis.call('ZCARD', index)
  if number == 0 then return end
  if number <= to_sort then
    to_sort = to_sort - number
    local page, sorted = {}, redis.call('ZINTER', 2, index, tag .. ':i:all', 'WEIGHTS', 0, 1, 'WITHSCORES')
    for place = #sorted - 1, 1, -2 do
      local match, created = sorted[place], tonumber(sorted[place + 1])
      if moment == '' or created < tonumber(moment) or (created == tonumber(moment) and match < after) then
        page[#page + 1], page[#page + 2] = match, sorted[place + 1]
      end
    end
    return add({filters = filters, files = files[tag], page = page, place = -1})
  end
  local more = {[1.5] = {index}}
  for number, indexes in pairs(filters) do more[number] = indexes end
  add_index(tag .. ':i:player:' .. player, more, tag)
  if start ~= tag .. ':i:' then add_index(start .. 'player:' .. player, more, tag) end
end

local key = ''
if moment ~= '' then key = struct.pack('>I6', math.min(whole(moment, 0), 281474976710655)) .. (packed_id(after) or after) end
for tag, filters in pairs(partitions) do
  for _, index in ipairs(filters[1] or {}) do
    local start, player = string.match(index, '^(.*)acts:(p[a-z2-7]+)$')
    if newest and start then
      add_acting(start, index, player, filters, tag)
    else
      add_index(index, filters, tag)
      if groups[index] then add({filters = filters, files = files[tag], reader = reader_of(files[tag], groups[index], newest, key)}) end
    end
  end
end
local found, examined, last, at = {}, 0, '', ''
while true do
  local first, most_so_far
  for number, head in ipairs(heads) do
    if head and (not first or head > most_so_far or (head == most_so_far and (ids[number] > ids[first]) == newest)) then
      first, most_so_far = number, head
    end
  end
  if not first then return {found, '', ''} end
  if #found == 2 * most or examined == bound then return {found, at, last} end
  local source = sources[first]
  last, at, examined = ids[first], source.reader and string.format('%d', source.at) or source.at, examined + 1
  if passes(last, source, source.row) then
    table.insert(found, last)
    table.insert(found, at)
  end
  advance(first)
end
