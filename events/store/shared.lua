-- Code that the functions share. Most callers name all keys in full, and the code here checks that the keys belong together.
-- append.lua is called with one key and finds the others.

-- Return the hash tag of the partition and the match from a key of a kind, such as 's' for a stream.
local function partition_and_match(key, kind)
  local tag, match = string.match(key, '^({p%d%d?%d?}):' .. kind .. ':(.+)$')
  if not tag then error({err = 'ERR not the key of a match'}) end
  return tag, match
end

local of_partition = {due = true, pending = true} -- one key for all matches of a partition

-- Raise an error unless the keys from `first` on are the keys of one match, of the given kinds in this order.
local function check_keys(keys, first, tag, match, kinds)
  local start, own = tag .. ':', ':' .. match
  for place, kind in ipairs(kinds) do
    local key = of_partition[kind] and start .. kind or start .. kind .. own
    if keys[first + place - 1] ~= key then error({err = 'ERR the keys are not those of one match'}) end
  end
end

-- Raise an error unless the keys from `first` on are indexes of a partition.
local function check_indexes(keys, first, tag)
  local start = tag .. ':i:'
  for place = first, #keys do
    if string.sub(keys[place], 1, #start) ~= start then error({err = 'ERR not an index of the partition'}) end
  end
end

-- Return an argument as a whole number. Raise an error if it is less than `least`.
local function whole(value, least)
  local number = tonumber(value)
  if not number or number < least or number >= 9007199254740992 or number % 1 ~= 0 then
    error({err = 'ERR an argument is not a whole number in its range'})
  end
  return number
end

-- Return a value from JSON. Raise an error unless it is a string.
local function check_text(value)
  if type(value) ~= 'string' then error({err = 'ERR an argument is not a text'}) end
  return value
end

-- Return the id of a player from its key in the store.
local function player_of(key)
  local id = string.match(key, '^{players}:p:(p[a-z2-7]+)$')
  if not id then error({err = 'ERR not the key of a player'}) end
  return id
end

-- Raise an error unless these can be the id and the hash of a player's key.
local function check_key(id, hash)
  if not string.match(id, '^k[a-z2-7]+$') or #hash ~= 64 or not string.match(hash, '^%x+$') then
    error({err = 'ERR not the id and the hash of a key'})
  end
end

-- Raise an error unless a role is one of the three.
local function check_role(role)
  if role ~= 'player' and role ~= 'referee' and role ~= 'admin' then error({err = 'ERR there is no such role'}) end
end

-- Return the id of a player's first key.
local function first_key(player)
  return 'k' .. string.sub(player, 2)
end

-- Return true if the signing key is valid: it has the id and the hash of a key of the player, or an empty id for the admin key.
local function may_ask(player, id, hash)
  return id == '' or (hash ~= '' and redis.call('HGET', player, 'hash:' .. id) == hash)
end

-- Return the prefix of all keys of a server's log, from its key with the given name.
local function server_log_of(key, name)
  local start = string.match(key, '^({log}:%x+:)' .. name .. '$')
  if not start then error({err = 'ERR not a key of the log of the server'}) end
  return start
end
