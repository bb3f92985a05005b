-- Code that the functions share. A function that writes to a match is called with the key of its stream alone, and finds the others.

-- Return the hash tag of the partition and the match from a key of a kind, such as 's' for a stream.
local function partition_and_match(key, kind)
  local tag, match = string.match(key, '^({p%d%d?%d?}):' .. kind .. ':(.+)$')
  if not tag then error({err = 'ERR not the key of a match'}) end
  return tag, match
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

-- Raise an error unless an argument is a SHA-256 in hex.
local function check_hash(value)
  if #value ~= 64 or string.find(value, '[^0-9a-f]') then error({err = 'ERR not a hash'}) end
end

-- Raise an error unless a value from JSON has a moment or null for each name. Moments become whole numbers.
local function check_moments(moments)
  for name, moment in pairs(moments) do
    check_text(name)
    if moment ~= cjson.null then moments[name] = whole(moment, 0) end
  end
end

-- Return the time of this server in ms since 1970.
local function now_ms()
  local clock = redis.call('TIME')
  return tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
end

-- Set the moment of a member of an index; null removes it.
local function set_moment(index, member, moment)
  if moment == cjson.null then redis.call('ZREM', index, member) else redis.call('ZADD', index, moment, member) end
end

-- Put a match last in the list of updates of a player, whose moments never repeat: the store's own clock, or later if that went back or stands. A
-- match stays where it is for a minute if nobody has read it there (updates.lua): whoever reads it finds it as it is then.
local UNREAD_MS = 60000
local function put_last(of_partition, player, match)
  local list, now = of_partition .. 'i:updated:' .. player, now_ms()
  local place = tonumber(redis.call('ZSCORE', list, match) or nil)
  if place and now - place < UNREAD_MS and place > tonumber(redis.call('HGET', of_partition .. 'given', player) or 0) then return end
  local last = redis.call('ZRANGE', list, 0, 0, 'REV', 'WITHSCORES')[2]
  redis.call('ZADD', list, string.format('%d', last and math.max(now, tonumber(last) + 1) or now), match)
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

-- Return true if the key of the request is valid: it has the id and the hash of a key of the player, or an empty id for the admin key.
local function may_ask(player, id, hash)
  return id == '' or (hash ~= '' and redis.call('HGET', player, 'hash:' .. id) == hash)
end

local UNLOGGED = '{players}:unlogged'  -- sorted set of `<player> <signing key>`, while the server's log lacks what the key became

-- Return the key of the signing keys of a player.
local function signing_keys_of(player)
  return '{players}:s:' .. player
end

-- Raise an error unless this can be a signing key: 32 bytes in base64.
local function check_signing_key(key)
  if #key ~= 44 or not string.match(key, '^[%w+/]+=$') then error({err = 'ERR not a signing key'}) end
end

-- Return when a signing key in stored form (events/store/signing_keys.py) was revoked, or 0.
local function revoked_at(stored)
  return tonumber(string.match(stored, '^%d+ (%d+) '))
end

-- Return a signing key in stored form as one that is revoked, or nil if it is revoked.
local function revoked_signing_key(stored, moment)
  local registered, revoked, signature = string.match(stored, '^(%d+) (%d+) (.+)$')
  return revoked == '0' and string.format('%s %d %s', registered, moment, signature) or nil
end

-- Return the prefix of all keys of a server's log, from its key with the given name.
local function server_log_of(key, name)
  local start = string.match(key, '^({log}:%x+:)' .. name .. '$')
  if not start then error({err = 'ERR not a key of the log of the server'}) end
  return start
end

-- Return the number of leaves of a server's log, of which the archive may have the first ones. `leaves`: the key of those that the store has.
local function size_of_log(leaves)
  local last = redis.call('XREVRANGE', leaves, '+', '-', 'COUNT', 1)[1]
  return last and tonumber(string.match(last[1], '^%d+')) or 0
end

-- Raise an error unless this can be the id of a hook.
local function check_hook(id)
  if not string.match(id, '^h[a-z2-7]+$') then error({err = 'ERR not the id of a hook'}) end
end

-- Return the key of the deliveries of a hook.
local function deliveries_of(player, hook)
  return '{players}:l:' .. player .. ':' .. hook
end

local UNTOLD = '{players}:untold'  -- sorted set of the players whose hooks have changed, while a partition may not know it

-- Note that the hooks of a player have changed, and that the partitions do not know it yet.
local function change_hooks(player)
  redis.call('HSET', player, 'hooks', string.format('%d', tonumber(redis.call('HGET', player, 'hooks') or '0') + 1))
  redis.call('ZADD', UNTOLD, 0, player_of(player))
end

-- Keep the last hundred ids of revoked keys and deleted hooks, so that a repeated request does not make one of them again.
local function note_revoked(player, id)
  local revoked = id .. ' ' .. (redis.call('HGET', player, 'revoked') or '')
  redis.call('HSET', player, 'revoked', string.sub(revoked, 1, 100 * (#id + 1)))
end

-- Let something be due for a hook, with the version of the match after which it begins. Return false if it is due already.
-- The index of hooks goes by the clock of this server, so that it does not matter which worker asks.
local function add_hook(of_partition, item, version)
  if redis.call('ZADD', of_partition .. 'hooks', 'NX', now_ms(), item) == 0 then return false end
  redis.call('HSET', of_partition .. 'cursors', item, string.format('%d 0 0', version))
  return true
end

-- ---------------------------------------------------------------- items of a stream (events/store/packed.py)
-- A request is found by its tag, which the items of its entries have. Of every eight versions, the hash `r` gets the tags with their versions at
-- once, and the newest items are looked at themselves. A retry is safe for a day: what came before a day without an entry is dropped.
local BLOCK, DAY_MS, LONGEST_LIST = 8, 86400000, 50
local STARTS, CLOSES, EXPIRES = 1, 2, 4

-- Raise an error unless this can be an item.
local function check_item(item)
  if #item < 43 or (math.floor(string.byte(item, 35) / 2) % 2 == 1 and #item < 51) then error({err = 'ERR not an item'}) end
end

-- Return the version of an item, or nil if it has another id than those that are written.
local function item_version(item)
  return tonumber(string.match(item[1], '^(%d+)-0$'))
end

-- Return true if an item has the digest of an entry: 32 bytes, or in hex.
local function has_digest(item, digest)
  if #digest == 64 then digest = string.gsub(digest, '%x%x', function(byte) return string.char(tonumber(byte, 16)) end) end
  return item ~= nil and string.sub(item[2][2], 1, 32) == digest
end

-- Return the number in 6 bytes of an item.
local function item_number(item, first)
  local number = 0
  for place = first, first + 5 do number = number * 256 + (string.byte(item[2][2], place) or 0) end
  return number
end

-- Return the moment of the entry of an item; 0 if it is none.
local function moment_of(item)
  return item_number(item, 37)
end

-- Return true if an item has a flag of its byte of facts.
local function has_fact(item, flag)
  return math.floor((string.byte(item[2][2], 36) or 0) / flag) % 2 == 1
end

-- Return the tag of the request that the entry of an item answers, or nil.
local function tag_of(item)
  return math.floor((string.byte(item[2][2], 35) or 0) / 2) % 2 == 1 and string.sub(item[2][2], 43, 50) or nil
end

-- Return until when a match may wait for its start by the item of its first entry, or nil.
local function expiry_of(item)
  if not has_fact(item, EXPIRES) then return nil end
  return item_number(item, tag_of(item) and 51 or 43)
end

-- Return the item of a version, or nil.
local function item_at(stream, version)
  local id = string.format('%d-0', version)
  return redis.call('XRANGE', stream, id, id)[1]
end

-- Return the items of the entries that answer a request, or nil. `newest`: the newest items, those that are not in `requests` among them.
local function answer_to(stream, requests, tag, newest)
  local version = tonumber(redis.call('HGET', requests, tag) or nil)
  if not version then
    local head = newest[1] and item_version(newest[1]) or 0
    for place = 1, math.min(head % BLOCK, #newest) do
      if tag_of(newest[place]) == tag then version = item_version(newest[place]) end
    end
  end
  if not version then return nil end
  local first = math.max(1, version - LONGEST_LIST)
  local found = {}
  for _, item in ipairs(redis.call('XRANGE', stream, string.format('%d-0', first), string.format('%d-0', version + LONGEST_LIST))) do
    local at = item_version(item)
    if tag_of(item) == tag then found[#found + 1] = item
    elseif at and at < version then found = {}
    elseif at then break end
  end
  return found[1] and found or nil
end

-- Let `requests` get the tags of the blocks that are complete after a match has moved from one version to another.
local function note_requests(stream, requests, from, to)
  local first = from - from % BLOCK
  local last = to - to % BLOCK
  if first == last then return end
  local before, words = first > 0 and item_at(stream, first), {}
  before = before and moment_of(before)
  for block = first, last - BLOCK, BLOCK do
    local items = redis.call('XRANGE', stream, string.format('%d-0', block + 1), string.format('%d-0', block + BLOCK))
    local after = #items > 0 and moment_of(items[#items])
    if before and after and before < after - DAY_MS then
      redis.call('UNLINK', requests)
      words = {}
    end
    for _, item in ipairs(items) do
      local tag = tag_of(item)
      if tag then words[#words + 1], words[#words + 2] = tag, item_version(item) end
    end
    before = after or before
  end
  if #words > 0 then redis.call('HSET', requests, unpack(words)) end
end
