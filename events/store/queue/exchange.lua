-- Hand in a finished step, enqueue work, and take the next step. This is atomic. Each part is optional.
--
-- The kinds that the same workers do are a pool. A creator has one account in a pool: the worker time that all kinds of its work have used.
-- The next step is that of the creator with the least; of one creator, that of the first kind that the worker takes, the earliest due first.
-- Besides, each kind keeps a share of the time of its pool: while its work waits and it has had less, it is next. Within it, too, the creator
-- with the least is next. Time is counted as in start-time fair queueing: a creator without waiting work saves up nothing, and pays for used
-- time only while others wait. The keys are derived from kinds and creators, so the server cannot be a cluster. RQ supports none either.
--
-- fair:<pool>:spent            sorted set of creators, scored by the milliseconds in their accounts, as far as they are beyond the clock
-- fair:<pool>:clock            hash: `creators`, where the account of a creator begins that comes anew; `used`, the milliseconds that all
--                              steps took; for each kind the value of `used` up to which it has had its share
-- fair:<kind>:creators         sorted set of the creators with waiting work, scored by their accounts
-- fair:<kind>:of:<creator>     sorted set of members of the due index, scored by their moments
-- fair:<kind>:versions         hash of "version lease" of all waiting work, by member; the lease in ms, 0 for the patience of the kind
-- fair:<kind>:taken:<member>   "version attempts since until": a worker has it `since` a moment, and counts as lost from `until` on
-- fair:<kind>:alone            the member that a worker has, of a kind of which only one step is done at a time
-- fair:<kind>:called           a ticket was requested and has not begun
-- fair:idle                    sorted set of the workers that wait for work between two steps, scored by the moment until which they do;
--                              a member is a name and the kinds that the worker does, with spaces between
-- fair:wake:<member>           a list; an item ends the wait of that worker
--
-- ARGV  JSON {now, begun: kind, done: {kind, creator, member, version, ms, kept}, push: [{kind, creator, member, version, due, lease,
--       again}], take: [kind], idle: [member, ms], wake: kind}; times in ms since 1970. `kept`: the lease of the step goes on. `again`: push only if
--       it neither waits nor is with a worker that may be alive. `idle`: if there is nothing to take, the worker waits so long; 0: it
--       waits no more. `wake`: wake a worker that waits for this kind, because another server has work of it
-- KINDS (__init__.py puts it in front): by kind {queue: the key of its tickets, pool, patience in ms, alone: one step at a time}
-- returns {number of pushed items that did not wait before, and of workers that `wake` woke, {kind, creator, member, version, lease} or {}, kinds that need a ticket}
local STEP = 1         -- ms that a step costs in addition to its time, so that two workers take from two creators
local SHARE = 0.1      -- of the time of its pool, which each kind keeps
local WAIT = 250       -- ms of others' steps after which a kind whose work begins to wait may claim its share
local CLAIM = 5000     -- ms of all steps in which a kind may have had less than its share, and make up for it
local AHEAD = 1000     -- ms that a creator may have less than the one who is served, also where nobody does the kind of its work
local DOUBLINGS = 10   -- how often the rest of a failing step doubles
local REST = 3600000   -- ms: the longest rest
local KEPT = 1000      -- ms after which a call to wake a worker that has ended is gone

local ask = cjson.decode(ARGV[1])
local pools = {}  -- the kinds of each pool
for kind, about in pairs(KINDS) do
  pools[about.pool] = pools[about.pool] or {}
  table.insert(pools[about.pool], kind)
end

local function key(kind, name) return 'fair:' .. kind .. ':' .. name end

local function pool_of(kind) return KINDS[kind].pool end

local function clock(pool, field) return tonumber(redis.call('HGET', key(pool, 'clock'), field) or '') or 0 end

local function set_clock(pool, field, value) redis.call('HSET', key(pool, 'clock'), field, string.format('%.3f', value)) end

local function account(pool, creator)
  return math.max(tonumber(redis.call('ZSCORE', key(pool, 'spent'), creator) or '0'), clock(pool, 'creators'))
end

local function charge(kind, creator, ms)
  local pool = pool_of(kind)
  local spent = account(pool, creator) + ms
  redis.call('ZADD', key(pool, 'spent'), spent, creator)
  for _, each in ipairs(pools[pool]) do redis.call('ZADD', key(each, 'creators'), 'XX', spent, creator) end
end

local function taken(kind, member)
  local held = redis.call('GET', key(kind, 'taken:' .. member)) or ''
  local version, attempts, till = string.match(held, '^(%d+) (%d+) %d+ (%d+)$')
  return tonumber(version), tonumber(attempts), tonumber(till)
end

local function finish(work)
  local kind, pool = work.kind, pool_of(work.kind)
  charge(kind, work.creator, work.ms)
  local used = clock(pool, 'used')
  set_clock(pool, kind, math.max(clock(pool, kind), used - CLAIM) + work.ms / SHARE)
  set_clock(pool, 'used', used + work.ms)
  if not work.kept and taken(kind, work.member) == work.version then redis.call('DEL', key(kind, 'taken:' .. work.member)) end
  if redis.call('GET', key(kind, 'alone')) == work.member then redis.call('DEL', key(kind, 'alone')) end
end

local function push(work)
  local kind, member, creator = work.kind, work.member, work.creator
  local waiting = key(kind, 'of:' .. creator)
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
  local pool = pool_of(kind)
  if redis.call('EXISTS', key(kind, 'creators')) == 0 then
    set_clock(pool, kind, math.max(clock(pool, kind), clock(pool, 'used') + WAIT))
  end
  redis.call('ZADD', key(kind, 'creators'), 'NX', account(pool, creator), creator)
  return is_new and 1 or 0
end

-- Return true if a worker has a step of a kind of which only one is done at a time.
local function held(kind) return KINDS[kind].alone and redis.call('EXISTS', key(kind, 'alone')) == 1 end

-- Return the kind and the creator of the next step, or nothing. All kinds are of one pool.
local function choose(pool, kinds)
  local creators, spent, least = {}, {}, math.huge  -- of each kind, the creator with the least
  for _, kind in ipairs(pools[pool]) do
    local first = redis.call('ZRANGE', key(kind, 'creators'), 0, 0, 'WITHSCORES')
    if first[1] then
      creators[kind], spent[kind] = first[1], tonumber(first[2])
      least = math.min(least, spent[kind])
    else
      redis.call('DEL', key(kind, 'versions'))
    end
  end
  if least == math.huge then
    redis.call('DEL', key(pool, 'spent'), key(pool, 'clock'))
    return nil
  end
  local used, begin = clock(pool, 'used'), math.max(clock(pool, 'creators'), least)
  local best
  for _, kind in ipairs(kinds) do
    if creators[kind] and not held(kind) then
      if clock(pool, kind) <= used then  -- it has had less than its share
        best = kind
        break
      end
      if not best or spent[kind] < spent[best] then best = kind end
    end
  end
  if best and clock(pool, best) > used then begin = math.max(begin, spent[best] - AHEAD) end
  set_clock(pool, 'creators', begin)
  redis.call('ZREMRANGEBYSCORE', key(pool, 'spent'), '-inf', begin)
  return best, creators[best]
end

local function take(pool, kinds)
  while true do
    local kind, creator = choose(pool, kinds)
    if not kind then return nil end
    local waiting = key(kind, 'of:' .. creator)
    local member = redis.call('ZPOPMIN', waiting)[1]
    if redis.call('EXISTS', waiting) == 0 then redis.call('ZREM', key(kind, 'creators'), creator) end
    if member then
      local version, lease = string.match(redis.call('HGET', key(kind, 'versions'), member) or '', '^(%d+) ?(%d*)$')
      redis.call('HDEL', key(kind, 'versions'), member)
      charge(kind, creator, STEP)
      if version then  -- otherwise the sweep finds the work in the due index
        local before, attempts = taken(kind, member)
        attempts = before == tonumber(version) and math.min(attempts + 1, DOUBLINGS) or 1
        lease = tonumber(lease) or 0
        local shortest = math.max(KINDS[kind].patience, lease)
        local held_for = math.max(shortest, math.min(REST, shortest * 2 ^ (attempts - 1)))
        local mark = string.format('%s %d %d %d', version, attempts, ask.now, ask.now + held_for)
        redis.call('SET', key(kind, 'taken:' .. member), mark, 'PX', string.format('%d', 2 * held_for))
        if KINDS[kind].alone then redis.call('SET', key(kind, 'alone'), member, 'PX', string.format('%d', shortest)) end
        return {kind, creator, member, version, string.format('%d', lease)}
      end
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
if ask.done then finish(ask.done) end
local pushed = 0
for _, work in ipairs(ask.push) do pushed = pushed + push(work) end
local found
for pool in pairs(pools) do
  local kinds = {}
  for _, kind in ipairs(ask.take) do
    if pool_of(kind) == pool then kinds[#kinds + 1] = kind end
  end
  if kinds[1] and not found then found = take(pool, kinds) end
end
if ask.idle then
  local member, ms = unpack(ask.idle)
  redis.call('ZREM', 'fair:idle', member)
  if not found and ms > 0 then
    redis.call('ZREMRANGEBYSCORE', 'fair:idle', '-inf', ask.now)  -- workers that were killed
    redis.call('ZADD', 'fair:idle', ask.now + ms, member)
  end
end
if ask.wake and wake(ask.wake) then pushed = pushed + 1 end
local tickets = {}
for kind, about in pairs(KINDS) do
  if redis.call('HLEN', key(kind, 'versions')) > 0 and not held(kind) and not wake(kind) and redis.call('LLEN', about.queue) == 0
    and redis.call('SET', key(kind, 'called'), '1', 'PX', '300', 'NX') then
    tickets[#tickets + 1] = kind
  end
end
return {pushed, found or {}, tickets}
