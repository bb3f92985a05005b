-- Store the pulse of a process, and record outages: more than two seconds without a pulse of a process or of its role.
-- KEYS  1 {pulse}:processes  2 {pulse}:outages
-- ARGV  1 role, "web" or "worker" ("" only to look)  2 process  3 moment (ms since 1970)  4 the rest of its pulse, as text
--       5 a moment: return outages that ended after it  6 number n of names without a new pulse
--       then n times a name and the moment of its last pulse that the caller knows, then names of processes that have ended
-- returns {names and pulses alternately, begin and end of each outage, number of new outages}
local STALE, KEPT, MOST, PROCESSES, DAY = 2000, 61 * 86400000, 10000, 1000, 86400000
local RECENT = 500  -- ms in which the pulse of a role is not written again, so that not every process of the role writes it
local processes, outages = KEYS[1], KEYS[2]
if processes ~= '{pulse}:processes' or outages ~= '{pulse}:outages' then error({err = 'ERR not the keys of pulses'}) end
local role, process, moment, n = ARGV[1], ARGV[2], whole(ARGV[3], 0), whole(ARGV[6], 0)
whole(ARGV[5], 0)
if #ARGV < 6 + 2 * n then error({err = 'ERR the numbers of names and arguments do not fit'}) end
for place = 8, 6 + 2 * n, 2 do whole(ARGV[place], 0) end
local new = 0

local function last(name)
  return tonumber(string.match(redis.call('HGET', processes, name) or '', '^%d+'))
end

local function record(from, to)
  if from < to then
    new = new + redis.call('ZADD', outages, 'GT', string.format('%d', to), string.format('%d', from))
  end
end

if role ~= '' then
  if role ~= 'web' and role ~= 'worker' then error({err = 'ERR there is no such role'}) end
  if #process > 120 or not string.match(process, '^' .. role .. ':%w+:%d+:%d+$') then error({err = 'ERR not the name of a process'}) end
  if not string.match(ARGV[4], '^%d+ [%w.-]+$') or #ARGV[4] > 120 then error({err = 'ERR not a pulse'}) end
  if redis.call('HLEN', processes) >= PROCESSES and not last(process) then error({err = 'ERR too many processes'}) end
  for _, name in ipairs({process, role}) do
    local before = last(name)
    if before and moment - before > STALE then record(before, moment) end
    local newer = not before or before <= moment - (name == role and RECENT or 0) or before > moment + DAY
    if newer then
      redis.call('HSET', processes, name, string.format('%d %s', moment, ARGV[4]))
    end
  end
  for place = 7, 5 + 2 * n, 2 do
    local known = whole(ARGV[place + 1], 0)
    if last(ARGV[place]) == known then record(known, moment) end
  end
  for place = 7 + 2 * n, #ARGV do
    if string.find(ARGV[place], ':', 1, true) then redis.call('HDEL', processes, ARGV[place]) end
  end
  for _, old in ipairs(redis.call('ZRANGE', outages, '-inf', string.format('%d', moment - KEPT), 'BYSCORE', 'LIMIT', 0, 100)) do
    redis.call('ZREM', outages, old)
  end
  for _, old in ipairs(redis.call('ZRANGE', outages, 0, -1 - MOST)) do redis.call('ZREM', outages, old) end
end
return {redis.call('HGETALL', processes), redis.call('ZRANGE', outages, '(' .. ARGV[5], '+inf', 'BYSCORE', 'WITHSCORES'), new}
