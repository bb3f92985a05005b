-- Hand in a finished step, enqueue work, and take the next step. This is atomic. Each part is optional.
--
-- The work of a kind waits under the creator of its match, the earliest due first. The creator with the least worker time is next. Time is
-- counted as in start-time fair queueing: a creator without waiting work saves up nothing, and pays for used time only while others wait.
-- The keys are derived from kinds and creators, so the server cannot be a cluster. RQ does not support clusters either.
--
-- fair:<kind>:spent            sorted set of creators, scored by the milliseconds of worker time that count for them
-- fair:<kind>:clock            the score of the creator who was served last; new creators begin there
-- fair:<kind>:of:<creator>     sorted set of members of the due index, scored by their moments
-- fair:<kind>:versions         hash of "version lease" of all waiting work, by member; the lease in ms, 0 for the patience of the kind
-- fair:<kind>:taken:<member>   "version attempts since until": a worker has it `since` a moment, and counts as lost from `until` on
-- fair:<kind>:called           a ticket was requested and has not begun
-- fair:idle                    sorted set of the workers that wait for work between two steps, scored by the moment until which they do;
--                              a member is a name and the kinds that the worker does, with spaces between
-- fair:wake:<member>           a list; an item ends the wait of that worker
--
-- ARGV  JSON {now, kinds: {kind: the key of its tickets}, begun: kind, done: {kind, creator, member, version, ms, failed},
--       push: [{kind, creator, member, version, due, lease, again}], take: [[kind, patience in ms]], idle: [member, ms]}; times in ms
--       since 1970. `again`: push only if it neither waits nor is with a worker that may be alive. `idle`: if there is nothing to take, the
--       worker waits so long; 0: it waits no more
-- returns {number of pushed items that did not wait before, {kind, creator, member, version, lease} or {}, kinds that need a ticket}
local STEP = 1         -- ms that a step costs in addition to its time, so that two workers take from two creators
local DOUBLINGS = 10   -- how often the rest of a failing step doubles
local REST = 3600000   -- ms: the longest rest
local KEPT = 1000      -- ms after which a call to wake a worker that has ended is gone

local ask = cjson.decode(ARGV[1])

local function key(kind, name) return 'fair:' .. kind .. ':' .. name end

local function clock(kind) return tonumber(redis.call('GET', key(kind, 'clock')) or '0') end

local function spend(kind, creator, ms)
  local spent = tonumber(redis.call('ZSCORE', key(kind, 'spent'), creator) or '0')
  redis.call('ZADD', key(kind, 'spent'), math.max(spent, clock(kind)) + ms, creator)
end

local function taken(kind, member)
  local held = redis.call('GET', key(kind, 'taken:' .. member)) or ''
  local version, attempts, till = string.match(held, '^(%d+) (%d+) %d+ (%d+)$')
  return tonumber(version), tonumber(attempts), tonumber(till)
end

local function push(work)
  local kind, member = work.kind, work.member
  local waiting = key(kind, 'of:' .. work.creator)
  local is_new = not redis.call('ZSCORE', waiting, member)
  if work.again and is_new then
    local version, _, till = taken(kind, member)
    if version == work.version and ask.now < till then return 0 end
  end
  if is_new then redis.call('ZADD', waiting, work.due, member) end
  local known = tonumber(string.match(redis.call('HGET', key(kind, 'versions'), member) or '', '^%d+') or '0')
  if known < work.version then
    redis.call('HSET', key(kind, 'versions'), member, string.format('%d %d', work.version, work.lease))
  end
  spend(kind, work.creator, 0)
  return is_new and 1 or 0
end

local function take(kind, patience)
  while true do
    local creator, spent = unpack(redis.call('ZRANGE', key(kind, 'spent'), 0, 0, 'WITHSCORES'))
    if not creator then
      redis.call('DEL', key(kind, 'clock'), key(kind, 'versions'))
      return nil
    end
    local member = redis.call('ZPOPMIN', key(kind, 'of:' .. creator))[1]
    if member then
      local version, lease = string.match(redis.call('HGET', key(kind, 'versions'), member) or '', '^(%d+) ?(%d*)$')
      redis.call('HDEL', key(kind, 'versions'), member)
      redis.call('SET', key(kind, 'clock'), spent)
      spend(kind, creator, STEP)
      if version then  -- otherwise the sweep finds the work in the due index
        local before, attempts = taken(kind, member)
        attempts = before == tonumber(version) and math.min(attempts + 1, DOUBLINGS) or 1
        lease = tonumber(lease) or 0
        local least = math.max(patience, lease)
        local held_for = math.max(least, math.min(REST, least * 2 ^ (attempts - 1)))
        local held = string.format('%s %d %d %d', version, attempts, ask.now, ask.now + held_for)
        redis.call('SET', key(kind, 'taken:' .. member), held, 'PX', string.format('%d', 2 * held_for))
        return {kind, creator, member, version, string.format('%d', lease)}
      end
    else
      redis.call('ZREM', key(kind, 'spent'), creator)
    end
  end
end

local idle  -- the workers that wait, once somebody has asked

-- Wake a worker that waits for this kind, and return true. Return false if none does.
local function wake(kind)
  idle = idle or redis.call('ZRANGEBYSCORE', 'fair:idle', string.format('(%d', ask.now), '+inf')
  for place, member in ipairs(idle) do
    if string.find(member .. ' ', ' ' .. kind .. ' ', 1, true) then
      table.remove(idle, place)
      redis.call('ZREM', 'fair:idle', member)
      redis.call('RPUSH', 'fair:wake:' .. member, kind)
      redis.call('PEXPIRE', 'fair:wake:' .. member, KEPT)
      return true
    end
  end
  return false
end

if ask.begun then redis.call('DEL', key(ask.begun, 'called')) end
local done = ask.done
if done then
  spend(done.kind, done.creator, done.ms)
  if not done.failed and taken(done.kind, done.member) == done.version then
    redis.call('DEL', key(done.kind, 'taken:' .. done.member))
  end
end
local pushed = 0
for _, work in ipairs(ask.push) do pushed = pushed + push(work) end
local found
for _, each in ipairs(ask.take) do
  found = found or take(each[1], each[2])
end
if ask.idle then
  local member, ms = unpack(ask.idle)
  redis.call('ZREM', 'fair:idle', member)
  if not found and ms > 0 then
    redis.call('ZREMRANGEBYSCORE', 'fair:idle', '-inf', ask.now)  -- workers that were killed
    redis.call('ZADD', 'fair:idle', ask.now + ms, member)
  end
end
local tickets = {}
for kind, queue in pairs(ask.kinds) do
  if redis.call('HLEN', key(kind, 'versions')) > 0 and not wake(kind) and redis.call('LLEN', queue) == 0
    and redis.call('SET', key(kind, 'called'), '1', 'PX', '300', 'NX') then
    tickets[#tickets + 1] = kind
  end
end
return {pushed, found or {}, tickets}
