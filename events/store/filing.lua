-- Matches that are filed away: the archive has their entries, and a partition keeps for each of them one row and its places in lists, packed.
-- docs/decisions/0119 has the reasons. The functions share this code. Of each partition there are:
--   filed     a stream of rows; the row of the match with the number 41 has the id 0-41 (events/store/filed.py)
--   g:<n>     chunks: strings of groups in one order over all chunks. A group is a list of matches by their numbers, such as those of a player.
--   groups    which chunk has which groups: a sorted set of the places at which the chunks begin, each with the number of its chunk
--   counts    how many matches a group has that is in several chunks; the numbers of games and chunks
--   passing   places of matches that are filed away in the lists of news, scored by the moment at which nobody asks for them any longer
-- A group in a chunk is: the length of its name in 1 byte, the name, the length of its entries in 2 bytes, the entries. Integers are big-endian.
--   name            entries                                   in the order of
--   1 player        number (3 bytes), results (1), game (1)   the creation
--   2 player        number: matches that the player created   the creation
--   3 player        number: the same matches                  the last change that their creator sees
--   4 game          number: matches of a game, or all (0)     the creation
--   5               hash of the id (4 bytes), number          the hash
--   rated:<game> …  number: the index of that name            the moment of that index
local LAST_NUMBER = 16777215  -- of a row
local CHUNK = 1500  -- bytes; a longer chunk is split
local BY_PLAYER, BY_CREATOR, BY_UPDATE, BY_GAME, BY_ID = '\1', '\2', '\3', '\4', '\5'
local ALL = '\4\0'
local PRACTICE, RATED, AMENDED, DISPUTED = 1, 2, 4, 8  -- flags of a row
local RESULTS = {over = 1, won = 2, stood_in = 4, drawn = 8, void = 16}  -- of a person of a row
local SEATED, CREATOR = 32, 64
local NEWS_MS = 7 * 86400000 + 600000  -- so long a stream may ask for news, and a little longer
local AT_ONCE = 32  -- places in lists of news that one call removes
local LOWEST, HIGHEST = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0', '\255\255\255\255\255\255\255\255\255\255\255\255\255\255\255\255'
local DIGITS = '234567abcdefghijklmnopqrstuvwxyz'  -- in the order of their bytes, so packed ids have the order of ids
local PAIRS = {}  -- of digits, filled when they are first needed

-- Return the 10 bytes of an id of a match or a player, or nil if it is none.
local function packed_id(id)
  if #id ~= 17 then return nil end
  local halves = {}
  for half = 0, 1 do
    local number = 0
    for place = 2 + 8 * half, 9 + 8 * half do
      local digit = string.byte(id, place)
      local value = digit >= 97 and digit <= 122 and digit - 91 or digit >= 50 and digit <= 55 and digit - 50
      if not value then return nil end
      number = number * 32 + value
    end
    halves[half + 1] = number
  end
  return struct.pack('>I5I5', halves[1], halves[2])
end

-- Return an id from its 10 bytes.
local function id_of(kind, packed)
  if not PAIRS[1] then
    for value = 0, 1023 do
      local high, low = math.floor(value / 32) + 1, value % 32 + 1
      PAIRS[value + 1] = string.sub(DIGITS, high, high) .. string.sub(DIGITS, low, low)
    end
  end
  local letters = {}
  for half = 0, 1 do
    local number = struct.unpack('>I5', packed, 1 + 5 * half)
    for place = 4 + 4 * half, 1 + 4 * half, -1 do
      local value = number % 1024
      letters[place] = PAIRS[value + 1]
      number = (number - value) / 1024
    end
  end
  return kind .. table.concat(letters)
end

-- Return -1, 0 or 1 as one string of bytes is before, equal to or after another. The operators of Lua depend on the language of the server.
local function order_of(one, other)
  if one == other then return 0 end
  for place = 1, math.min(#one, #other) do
    local left, right = string.byte(one, place), string.byte(other, place)
    if left ~= right then return left < right and -1 or 1 end
  end
  return #one < #other and -1 or 1
end

-- Return what a call knows of the matches of a partition that are filed away. It remembers rows and chunks, so use it for one call only.
local function files_of(of_partition)
  return {of = of_partition, rows = {}, contents = {}, counted = {}, games = false}
end

-- Return the numbers of games by name, and their names by number.
local function games_of(files)
  if not files.games then
    files.games, files.names = {}, {}
    local known = redis.call('HGET', files.of .. 'counts', 'games') or ''
    for game in string.gmatch(known, '[^ ]+') do
      files.names[#files.names + 1] = game
      files.games[game] = #files.names
    end
  end
  return files.games, files.names
end

-- Return the creator of the match of a row, in 10 bytes.
local function creator_of(raw)
  for place = 26, 25 + 11 * string.byte(raw, 25), 11 do
    if bit.band(string.byte(raw, place + 10), CREATOR) ~= 0 then return string.sub(raw, place, place + 9) end
  end
  error({err = 'ERR a row without a creator'})
end

-- Return a row as a table.
local function as_row(raw, number)
  local row = {raw = raw, number = number, id = string.sub(raw, 1, 10)}
  row.created, row.updated, row.game, row.flags, row.people = struct.unpack('>I6I6BBB', raw, 11)
  row.more = 26 + 11 * row.people
  return row
end

-- Return the row with a number, as a table.
local function row_of(files, number)
  if not files.rows[number] then
    local id = string.format('0-%d', number)
    local item = redis.call('XRANGE', files.of .. 'filed', id, id)[1]
    if not item then error({err = 'ERR a match that is filed away has no row'}) end
    files.rows[number] = as_row(item[2][2], number)
  end
  return files.rows[number]
end

-- Return the moment of a flag of a row: when a rated match was over, or when a ruling changed its result.
local function moment_of_flag(row, flag)
  local place = row.more
  if flag == AMENDED and bit.band(row.flags, RATED) ~= 0 then place = place + 6 end
  return (struct.unpack('>I6', row.raw, place))
end

-- Return the tags of a row, and the place of what follows them.
local function tags_of(row)
  local place, tags = row.more, {}
  if bit.band(row.flags, RATED) ~= 0 then place = place + 6 end
  if bit.band(row.flags, AMENDED) ~= 0 then place = place + 6 end
  for number = 1, string.byte(row.raw, place) do
    local length = string.byte(row.raw, place + 1)
    tags[number] = string.sub(row.raw, place + 2, place + 1 + length)
    place = place + 1 + length
  end
  return tags, place + 1
end

-- Return the players of a row who have seats, each with the results.
local function players_of(row)
  local players = {}
  for place = 26, row.more - 11, 11 do
    local results = string.byte(row.raw, place + 10)
    if bit.band(results, SEATED) ~= 0 then players[#players + 1] = {string.sub(row.raw, place, place + 9), results} end
  end
  return players
end

-- Return the key that orders a row in a group: its moment there, and its id.
local function key_of(group, row)
  local kind, moment = string.sub(group, 1, 1), row.created
  if kind == BY_UPDATE then moment = row.updated
  elseif string.sub(group, 1, 6) == 'rated:' then moment = moment_of_flag(row, RATED)
  elseif string.sub(group, 1, 8) == 'amended:' then moment = moment_of_flag(row, AMENDED) end
  return struct.pack('>I6', moment) .. row.id, moment
end

local function width_of(group)
  local kind = string.sub(group, 1, 1)
  return kind == BY_PLAYER and 5 or kind == BY_ID and 7 or 3
end

-- Return the number of the match, and the key that orders it, of an entry of a group. `place`: that of its first byte.
local function number_at(group, content, place)
  return (struct.unpack('>I3', content, string.sub(group, 1, 1) == BY_ID and place + 4 or place))
end

local function key_at(files, group, content, place)
  if string.sub(group, 1, 1) == BY_ID then return string.sub(content, place, place + 6) end
  return (key_of(group, row_of(files, number_at(group, content, place))))
end

-- ---------------------------------------------------------------- chunks

-- Return the place of a key of a group, as the members of `groups` have it before the number of the chunk.
local function place_of(group, key)
  return string.char(#group) .. group .. key .. string.sub(LOWEST, #key + 1)
end

-- Return the member of `groups` of the chunk that has a place, or nil if there are no chunks.
local function chunk_at(files, place)
  return redis.call('ZRANGE', files.of .. 'groups', '[' .. place .. '\255\255\255', '-', 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
end

-- Return the member of the chunk after or before that of a member, or nil.
local function neighbour(files, member, after)
  if after then return redis.call('ZRANGE', files.of .. 'groups', '(' .. member, '+', 'BYLEX', 'LIMIT', 0, 1)[1] end
  return redis.call('ZRANGE', files.of .. 'groups', '(' .. member, '-', 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
end

local function name_of_chunk(files, member)
  return files.of .. string.format('g:%d', struct.unpack('>I3', member, #member - 2))
end

local function content_of(files, member)
  local content = files.contents[member]
  if not content then
    content = redis.call('GET', name_of_chunk(files, member)) or ''
    files.contents[member] = content
  end
  return content
end

-- Return where the entries of a group begin in a chunk, and how many bytes they have; or where the group would begin, and nil.
local function find(content, group)
  local place, starts, number = 1, {}, 0
  while place <= #content do
    local size = string.byte(content, place)
    local high, low = string.byte(content, place + 1 + size, place + 2 + size)
    number = number + 1
    starts[number] = place
    place = place + 3 + size + 256 * high + low
  end
  local first, last, name = 1, number + 1, string.char(#group) .. group
  while first < last do
    local middle = math.floor((first + last) / 2)
    if order_of(string.sub(content, starts[middle], starts[middle] + string.byte(content, starts[middle])), name) < 0 then first = middle + 1
    else last = middle end
  end
  place = starts[first]
  if not place then return #content + 1, nil end
  if string.sub(content, place, place + #group) ~= name then return place, nil end
  return place + 1 + #name + 1, (struct.unpack('>I2', content, place + #name))
end

-- Return the place of the first entry, from `first` to `last`, whose key is not before a key.
local function first_not_before(files, group, content, first, last, key)
  local width = width_of(group)
  local low, high = 0, (last - first + 1) / width
  while low < high do
    local middle = math.floor((low + high) / 2)
    if order_of(key_at(files, group, content, first + middle * width), key) < 0 then low = middle + 1 else high = middle end
  end
  return first + low * width
end

-- Return the name of a group as `counts` has it, and the counts of its entries there.
local function counts_in(group, content, first, bytes)
  local width = width_of(group)
  local counted = {[group] = bytes / width}
  if width == 5 then
    for place = first, first + bytes - 1, 5 do
      local results, game = string.byte(content, place + 3, place + 4)
      for what, mask in pairs(RESULTS) do
        if bit.band(results, mask) ~= 0 then
          local name = group .. string.char(game) .. what
          counted[name] = (counted[name] or 0) + 1
        end
      end
    end
  end
  return counted
end

-- Change the counts of a group that is in several chunks.
local function change_counts(files, group, entry, change)
  local counts = files.of .. 'counts'
  if redis.call('HEXISTS', counts, group) == 0 then return end
  for name, number in pairs(counts_in(group, entry, 1, #entry)) do
    redis.call('HSET', counts, name, string.format('%d', (redis.call('HGET', counts, name) or 0) + change * number))
  end
end

local function put_chunk(files, member, content)
  redis.call('SET', name_of_chunk(files, member), content)
  files.contents[member] = content
end

local function new_chunk(files, place, content)
  local number = (redis.call('HGET', files.of .. 'counts', 'chunks') or 0) + 1
  redis.call('HSET', files.of .. 'counts', 'chunks', string.format('%d', number))
  local member = place .. struct.pack('>I3', number)
  redis.call('ZADD', files.of .. 'groups', 0, member)
  put_chunk(files, member, content)
end

-- Split a chunk that is too long: between two groups, or within a long one. `part`: which part of it stays.
local function split(files, member, content, part)
  local place, middle = 1, #content * part
  while true do
    local size = string.byte(content, place)
    local bytes = struct.unpack('>I2', content, place + 1 + size)
    local first, after = place + 3 + size, place + 3 + size + bytes
    if after > middle or after > #content then
      local group, width = string.sub(content, place + 1, place + size), width_of(string.sub(content, place + 1, place + size))
      if bytes < CHUNK / 4 and (place > 1 or after <= #content) then
        if place == 1 then
          place, size = after, string.byte(content, after)
          group = string.sub(content, place + 1, place + size)
        end
        new_chunk(files, place_of(group, ''), string.sub(content, place))
        return put_chunk(files, member, string.sub(content, 1, place - 1))
      end
      local inside = first + width * math.max(1, math.min(bytes / width - 1, math.floor((middle - first) / width)))
      if string.sub(group, 1, 1) == BY_ID then  -- equal hashes stay together
        while inside < after and string.sub(content, inside, inside + 3) == string.sub(content, inside - 7, inside - 4) do inside = inside + 7 end
        if inside >= after then return put_chunk(files, member, content) end
      end
      if redis.call('HEXISTS', files.of .. 'counts', group) == 0 then
        for name, number in pairs(counts_in(group, content, first, bytes)) do
          redis.call('HSET', files.of .. 'counts', name, string.format('%d', number))
        end
      end
      local head = string.char(size) .. group
      local second = head .. struct.pack('>I2', after - inside) .. string.sub(content, inside)
      new_chunk(files, place_of(group, key_at(files, group, content, inside)), second)
      return put_chunk(files, member, string.sub(content, 1, place - 1) .. head .. struct.pack('>I2', inside - first) .. string.sub(content, first, inside - 1))
    end
    place = after
  end
end

-- Put an entry into a group.
local function enter(files, group, key, entry)
  local member = chunk_at(files, place_of(group, key))
  if not member then
    new_chunk(files, '\0', '')
    member = chunk_at(files, place_of(group, key))
  end
  local content = content_of(files, member)
  local first, bytes = find(content, group)
  local at_end = false
  if bytes then
    local last = first + bytes - 1
    local width = width_of(group)
    local place = last + 1
    if bytes > 0 and order_of(key_at(files, group, content, place - width), key) >= 0 then
      place = first_not_before(files, group, content, first, last, key)
    end
    at_end = place == #content + 1
    content = string.sub(content, 1, first - 3) .. struct.pack('>I2', bytes + width) .. string.sub(content, first, place - 1) .. entry .. string.sub(content, place)
  else
    content = string.sub(content, 1, first - 1) .. string.char(#group) .. group .. struct.pack('>I2', #entry) .. entry .. string.sub(content, first)
  end
  change_counts(files, group, entry, 1)
  if #content > CHUNK then split(files, member, content, at_end and 0.875 or 0.5) else put_chunk(files, member, content) end
end

-- Take the entry with a key out of a group.
local function leave(files, group, key)
  local member = chunk_at(files, place_of(group, key))
  local content = member and content_of(files, member) or ''
  local first, bytes = find(content, group)
  if not bytes then return end
  local width = width_of(group)
  local place = first_not_before(files, group, content, first, first + bytes - 1, key)
  if place >= first + bytes or key_at(files, group, content, place) ~= key then return end
  change_counts(files, group, string.sub(content, place, place + width - 1), -1)
  if bytes > width then
    content = string.sub(content, 1, first - 3) .. struct.pack('>I2', bytes - width) .. string.sub(content, first, place - 1) .. string.sub(content, place + width)
  else
    content = string.sub(content, 1, first - 4 - #group) .. string.sub(content, first + bytes)
  end
  if content == '' and string.byte(member) ~= 0 then
    redis.call('UNLINK', name_of_chunk(files, member))
    redis.call('ZREM', files.of .. 'groups', member)
    files.contents[member] = nil
  else
    put_chunk(files, member, content)
  end
end

-- ---------------------------------------------------------------- rows

local function hash_of(packed)
  local hashed = redis.sha1hex(packed)
  return struct.pack('>I4', tonumber(string.sub(hashed, 1, 8), 16))
end

-- Return the row of a match that is filed away, or nil.
local function row_of_match(files, match)
  local packed = packed_id(match)
  if not packed then return nil end
  local hash = hash_of(packed)
  local member = chunk_at(files, place_of(BY_ID, hash .. '\255\255\255'))
  local content = member and content_of(files, member) or ''
  local first, bytes = find(content, BY_ID)
  if not bytes then return nil end
  for place = first_not_before(files, BY_ID, content, first, first + bytes - 1, hash), first + bytes - 1, 7 do
    if string.sub(content, place, place + 3) ~= hash then return nil end
    local row = row_of(files, number_at(BY_ID, content, place))
    if row.id == packed then return row end
  end
  return nil
end

-- Return each group that a row is in, with its entry there, and the groups in the order in which a row enters them.
local function groups_of(files, row)
  if row.groups then return row.groups, row.order end
  local _, names = games_of(files)
  local number, groups, order, creator = struct.pack('>I3', row.number), {}, {}, creator_of(row.raw)
  local function put(group, entry) groups[group], order[#order + 1] = entry or number, group end
  for _, player in ipairs(players_of(row)) do put(BY_PLAYER .. player[1], number .. string.char(player[2], row.game)) end
  put(BY_CREATOR .. creator)
  put(BY_UPDATE .. creator)
  put(BY_GAME .. string.char(row.game))
  put(ALL)
  for _, tag in ipairs(tags_of(row)) do if not groups['tag:' .. tag] then put('tag:' .. tag) end end
  if bit.band(row.flags, PRACTICE) ~= 0 then put('practice:true') end
  if bit.band(row.flags, DISPUTED) ~= 0 then put('desk:all') end
  if bit.band(row.flags, RATED) ~= 0 then put('rated:' .. names[row.game]) end
  if bit.band(row.flags, AMENDED) ~= 0 then put('amended:' .. names[row.game]) end
  row.groups, row.order = groups, order
  return groups, order
end

-- Return the names of all indexes that a row has places in, but for that of updates.
local function indexes_of(files, row)
  local _, names = games_of(files)
  local game = names[row.game]
  local indexes = {'all', 'status:over', 'game:' .. game, 'game:' .. game .. ':over', 'creator:' .. id_of('p', creator_of(row.raw))}
  for _, player in ipairs(players_of(row)) do
    local id = id_of('p', player[1])
    indexes[#indexes + 1] = 'player:' .. id
    for what, mask in pairs(RESULTS) do
      if bit.band(player[2], mask) ~= 0 then indexes[#indexes + 1] = what .. ':' .. id .. ':' .. game end
    end
  end
  for group in pairs(groups_of(files, row)) do
    if string.byte(group) > 31 then indexes[#indexes + 1] = group end
  end
  return indexes
end

-- Return the group that is the part of an index that is filed away, or nil if there is none; and what to count of it if not all entries count.
local function group_of(files, index)
  if index == 'all' or index == 'status:over' then return ALL end
  local games = games_of(files)
  local kind, id, more = string.match(index, '^([%l_]+):([^:]+):?(.*)$')
  if kind == 'game' then
    return games[id] and (more == '' or more == 'over') and BY_GAME .. string.char(games[id]) or nil
  end
  local player = id and packed_id(id)
  if kind == 'player' or kind == 'creator' or kind == 'updated' then
    local first = kind == 'player' and BY_PLAYER or kind == 'creator' and BY_CREATOR or BY_UPDATE
    return player and first .. player or nil
  end
  if RESULTS[kind] then
    if not player or not games[more] then return nil end
    return BY_PLAYER .. player, string.char(games[more]) .. kind
  end
  if kind == 'tag' or kind == 'rated' or kind == 'amended' or index == 'practice:true' or index == 'desk:all' then return index end
  return nil
end

-- Return how many matches of an index are filed away.
local function number_filed(files, index)
  local group, only = group_of(files, index)
  if not group then return 0 end
  local name, counted = only and group .. only or group, files.counted[group]
  if counted == nil then
    counted = redis.call('HEXISTS', files.of .. 'counts', group) == 1 and 'kept'
    if not counted then
      -- A group that is in one chunk only is in this one.
      local member = chunk_at(files, place_of(group, LOWEST))
      local content = member and content_of(files, member) or ''
      local first, bytes = find(content, group)
      counted = bytes and counts_in(group, content, first, bytes) or {}
    end
    files.counted[group] = counted
  end
  if counted == 'kept' then return tonumber(redis.call('HGET', files.of .. 'counts', name) or 0) end
  return counted[name] or 0
end

-- Return true if a row is in a group.
local function is_in(files, row, group)
  local kind = string.sub(group, 1, 1)
  if kind == BY_GAME then return group == ALL or string.byte(group, 2) == row.game end
  if kind == BY_PLAYER or kind == BY_CREATOR then
    local player, flag = string.sub(group, 2), kind == BY_PLAYER and SEATED or CREATOR
    for place = 26, row.more - 11, 11 do
      if string.sub(row.raw, place, place + 9) == player then return bit.band(string.byte(row.raw, place + 10), flag) ~= 0 end
    end
    return false
  end
  return groups_of(files, row)[group] ~= nil
end

-- A place in a group, from which its matches can be read one after the other. Read the next one with `next_row`.
-- `newest`: the greatest key comes first. `key`: begin after this key, or '' for the beginning.
local function reader_of(files, group, newest, key)
  local bound = key ~= '' and key or (newest and HIGHEST or LOWEST)
  local reader = {files = files, group = group, newest = newest, member = chunk_at(files, place_of(group, bound)), place = 0, last = -1, first = 0}
  if not reader.member then return reader end
  local content = content_of(files, reader.member)
  local first, bytes = find(content, group)
  if not bytes then
    reader.place, reader.first, reader.last = 1, 1, 0
    return reader
  end
  reader.first, reader.last = first, first + bytes - 1
  local width = width_of(group)
  local place = newest and reader.last + 1 or first
  if key ~= '' then place = first_not_before(files, group, content, first, reader.last, key) end
  if newest then
    place = place - width
  elseif key ~= '' and place <= reader.last and key_at(files, group, content, place) == key then
    place = place + width
  end
  reader.place = place
  return reader
end

-- Return the next row of a reader with its moment, or nil at the end.
local function next_row(reader)
  while reader.member do
    local content = content_of(reader.files, reader.member)
    if reader.first <= reader.place and reader.place <= reader.last then
      local row = row_of(reader.files, number_at(reader.group, content, reader.place))
      local width = width_of(reader.group)
      reader.place = reader.place + (reader.newest and -width or width)
      local _, moment = key_of(reader.group, row)
      return row, moment
    end
    reader.member = neighbour(reader.files, reader.member, not reader.newest)
    if reader.member then
      local first, bytes = find(content_of(reader.files, reader.member), reader.group)
      if not bytes then
        reader.member = nil
      else
        reader.first, reader.last = first, first + bytes - 1
        reader.place = reader.newest and first + bytes - width_of(reader.group) or first
      end
    end
  end
  return nil
end

-- ---------------------------------------------------------------- filing

-- Return bytes in hex.
local function in_hex(bytes)
  return (string.gsub(bytes, '.', function(each) return string.format('%02x', string.byte(each)) end))
end

-- Return the last version of a match from its row, the digest of the entry there in hex, the hash of its object in hex, and the moment of
-- that entry.
local function head_of(row)
  local _, place = tags_of(row)
  local head, after = struct.unpack('>I4', row.raw, place)
  local digest, object = in_hex(string.sub(row.raw, after, after + 31)), in_hex(string.sub(row.raw, after + 32, after + 39))
  return head, digest, object, row.created + struct.unpack('>I5', row.raw, after + 40)
end

-- Return how a match is filed away by its row, as "head digest object".
local function as_away(row)
  return string.format('%d %s %s', head_of(row))
end

-- Return how a match is filed away as text, or false.
local function filed(of_partition, match)
  local row = row_of_match(files_of(of_partition), match)
  return row and as_away(row) or false
end

-- Take a match that is filed away out again: out of its row and all lists. Its place in the list of updates becomes an ordinary one.
local function take_out(of_partition, match)
  local files = files_of(of_partition)
  local row = row_of_match(files, match)
  if not row then return end
  for group in pairs(groups_of(files, row)) do leave(files, group, (key_of(group, row))) end
  leave(files, BY_ID, hash_of(row.id) .. struct.pack('>I3', row.number))
  redis.call('XDEL', of_partition .. 'filed', string.format('0-%d', row.number))
  redis.call('ZADD', of_partition .. 'i:updated:' .. id_of('p', creator_of(row.raw)), string.format('%d', row.updated), match)
end

-- File a match away: a row and packed places take the place of its standing and of its places in the ordinary indexes.
-- `packed`: the row (events/store/filed.py); `game`: its game; `news`: the names of the indexes of news that it is in.
local function file_away(of_partition, match, game, packed, news)
  if string.sub(packed, 1, 10) ~= packed_id(match) or not head_of(as_row(packed, 0)) then error({err = 'ERR not the row of this match'}) end
  if not string.match(check_text(game), '^%l[%l%d_]*$') then error({err = 'ERR not a game'}) end
  local files, counts, numbered = files_of(of_partition), of_partition .. 'counts', of_partition .. 'filed'
  if redis.call('EXISTS', numbered) == 1 then
    local known = redis.call('XINFO', 'STREAM', numbered)
    for place = 1, #known, 2 do
      if known[place] == 'last-generated-id' and tonumber(string.match(known[place + 1], '%d+$')) >= LAST_NUMBER then
        error({err = 'ERR the partition has no numbers left for matches that are filed away'})
      end
    end
  end
  if row_of_match(files, match) then
    take_out(of_partition, match)
    files = files_of(of_partition)
  end
  local games, names = games_of(files)
  if not games[game] then
    names[#names + 1] = game
    games[game] = #names
    redis.call('HSET', counts, 'games', table.concat(names, ' '))
  end
  local creator = id_of('p', creator_of(packed))
  local updates = of_partition .. 'i:updated:' .. creator
  if not redis.call('ZSCORE', updates, match) then put_last(of_partition, creator, match) end
  local updated = tonumber(redis.call('ZSCORE', updates, match))
  packed = string.sub(packed, 1, 16) .. struct.pack('>I6B', updated, games[game]) .. string.sub(packed, 24)
  groups_of(files, as_row(packed, 0))  -- raises an error for what is no row, before anything changes
  local number = tonumber(string.match(redis.call('XADD', of_partition .. 'filed', '0-*', 'r', packed), '%d+$'))
  local row = row_of(files, number)
  enter(files, BY_ID, hash_of(row.id) .. struct.pack('>I3', number), hash_of(row.id) .. struct.pack('>I3', number))
  local groups, order = groups_of(files, row)
  for _, group in ipairs(order) do enter(files, group, (key_of(group, row)), groups[group]) end
  for _, index in ipairs(indexes_of(files, row)) do redis.call('ZREM', of_partition .. 'i:' .. index, match) end
  redis.call('ZREM', updates, match)
  redis.call('UNLINK', of_partition .. 'm:' .. match)
  local now, passing = now_ms(), of_partition .. 'passing'
  for _, index in ipairs(news) do
    local moment = tonumber(redis.call('ZSCORE', of_partition .. 'i:' .. check_text(index), match) or 0)
    if moment + NEWS_MS > now then redis.call('ZADD', passing, string.format('%d', moment + NEWS_MS), match .. ' ' .. index)
    else redis.call('ZREM', of_partition .. 'i:' .. index, match) end
  end
  for _, member in ipairs(redis.call('ZRANGE', passing, '-inf', string.format('%d', now), 'BYSCORE', 'LIMIT', 0, AT_ONCE)) do
    local other, index = string.match(member, '^(%S+) (.*)$')
    if row_of_match(files, other) then redis.call('ZREM', of_partition .. 'i:' .. index, other) end
    redis.call('ZREM', passing, member)
  end
end
