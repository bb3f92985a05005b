-- Store the pulse of a process, and record outages: more than two seconds without a pulse of a process or of its role.
-- KEYS  1 {pulse}:processes  2 {pulse}:outages  3 {pulse}:now
-- ARGV  1 role, "web" or "worker" ("" only to look)  2 process  3 moment (ms since 1970)  4 the rest of its pulse, as text
--       5 a moment: return outages that ended after it  6 the moment of the last pulse of the process, as it knows it ("" for none)
--       7 number n of names without a new pulse
--       then n times a name and the moment of its last pulse that the caller knows, then names of processes that have ended
-- returns {names and pulses alternately, begin and end of each outage, number of new outages}
-- The newest pulses of all are in {pulse}:now, which is written to no file and to no replica. {pulse}:processes has a pulse of each role that is at
-- most a second and KEEP_MS older. So after a restart it says since when nothing has run, and that is what an older {pulse}:now of a rewritten file is known by.
local STALE, KEPT, MOST, PROCESSES, DAY, KEEP_MS = 2000, 61 * 86400000, 10000, 1000, 86400000, 1900
local processes, outages, newest = KEYS[1], KEYS[2], KEYS[3]
if processes ~= '{pulse}:processes' or outages ~= '{pulse}:outages' or newest ~= '{pulse}:now' then error({err = 'ERR not the keys of pulses'}) end
local role, process, moment, n = ARGV[1], ARGV[2], whole(ARGV[3], 0), whole(ARGV[7], 0)
whole(ARGV[5], 0)
local own = ARGV[6] ~= '' and whole(ARGV[6], 0) or nil
if #ARGV < 7 + 2 * n then error({err = 'ERR the numbers of names and arguments do not fit'}) end
for place = 9, 7 + 2 * n, 2 do whole(ARGV[place], 0) end
local new, known, kept = 0, {}, {}

local function moment_in(pulse)
  return tonumber(string.match(pulse, '^%d+'))
end

local function read(key, into)
  local found, latest = redis.call('HGETALL', key), 0
  for place = 1, #found, 2 do
    into[found[place]] = found[place + 1]
    latest = math.max(latest, moment_in(found[place + 1]) or 0)
  end
  return latest
end

local function last(name)
  return known[name] and moment_in(known[name])
end

local function record(from, to)
  if from < to then
    new = new + redis.call('ZADD', outages, 'GT', string.format('%d', to), string.format('%d', from))
  end
end

local written = read(processes, kept)
local outdated = read(newest, known) < written
if outdated then known = {} end
for name, pulse in pairs(kept) do known[name] = known[name] or pulse end
if role ~= '' then
  if role ~= 'web' and role ~= 'worker' then error({err = 'ERR there is no such role'}) end
  if #process > 120 or not string.match(process, '^' .. role .. ':%w+:%d+:%d+$') then error({err = 'ERR not the name of a process'}) end
  if not string.match(ARGV[4], '^%d+ [%w.-]+$') or #ARGV[4] > 120 then error({err = 'ERR not a pulse'}) end
  if not known[process] and redis.call('HLEN', newest) >= PROCESSES then error({err = 'ERR too many processes'}) end
  local pulse, words, dropped = string.format('%d %s', moment, ARGV[4]), {}, {}
  for _, name in ipairs({process, role}) do
    local before = last(name) or (name == process and own)
    if before and moment - before > STALE then record(before, moment) end
    if not before or before <= moment or before > moment + DAY then
      known[name] = pulse
      words[#words + 1], words[#words + 2] = name, pulse
    end
  end
  for place = 8, 6 + 2 * n, 2 do
    local seen = whole(ARGV[place + 1], 0)
    if (last(ARGV[place]) or seen) == seen then record(seen, moment) end
  end
  for place = 8 + 2 * n, #ARGV do
    if string.find(ARGV[place], ':', 1, true) then
      known[ARGV[place]] = nil
      dropped[#dropped + 1] = ARGV[place]
    end
  end
  local due = {}
  for _, name in ipairs({'web', 'worker'}) do
    if known[name] ~= kept[name] then due[#due + 1], due[#due + 2] = name, known[name] end
  end
  if moment - written >= KEEP_MS or moment < written or not kept[role] then
    if #due > 0 then redis.call('HSET', processes, unpack(due)) end
  end
  for _, old in ipairs(redis.call('ZRANGE', outages, '-inf', string.format('%d', moment - KEPT), 'BYSCORE', 'LIMIT', 0, 100)) do
    redis.call('ZREM', outages, old)
  end
  for _, old in ipairs(redis.call('ZRANGE', outages, 0, -1 - MOST)) do redis.call('ZREM', outages, old) end
  redis.set_repl(redis.REPL_NONE)
  if outdated then redis.call('UNLINK', newest) end
  if #words > 0 then redis.call('HSET', newest, unpack(words)) end
  if #dropped > 0 then redis.call('HDEL', newest, unpack(dropped)) end
end
local found = {}
for name, pulse in pairs(known) do found[#found + 1], found[#found + 2] = name, pulse end
return {found, redis.call('ZRANGE', outages, '(' .. ARGV[5], '+inf', 'BYSCORE', 'WITHSCORES'), new}
