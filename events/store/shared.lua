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

-- Put a match last in a list of updates, whose moments never repeat: the store's own clock, or later if that went back or stands.
local function put_last(list, match)
  local last, clock = redis.call('ZRANGE', list, 0, 0, 'REV', 'WITHSCORES')[2], redis.call('TIME')
  local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
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

-- Return true if the entry of an item of a stream has a digest.
local function has_digest(item, digest)
  return item and string.find(item[2][2], '"digest":"' .. digest .. '"', 1, true) ~= nil
end
