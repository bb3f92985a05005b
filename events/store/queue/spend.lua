-- Add to counters and return what they hold. A counter holds milliseconds, which run down by themselves (a leaky bucket, GCRA). At 0 its key
-- expires. All keys are in one slot.
-- KEYS  1.. counters   ARGV for each: the milliseconds to add, and the most that it may then hold ("" for no limit)
-- returns for each counter the milliseconds h that it holds, or -h - 1 if the addition would exceed the limit; then nothing was added
local time = redis.call('TIME')
local wall = time[1] * 1000 + time[2] / 1000
-- A wall clock that is set back would keep every counter full for as long. So this clock stands still there.
local before, behind = string.match(redis.call('GET', '{limits}:clock') or '0 0', '(%S+) (%S+)')
behind = tonumber(behind) + math.max(0, tonumber(before) - wall)
redis.call('SET', '{limits}:clock', string.format('%.3f %.3f', wall, behind))
local now = wall + behind
local answers = {}
for i, key in ipairs(KEYS) do
  local held = math.max(0, (tonumber(redis.call('GET', key) or '') or 0) - now)
  local added, most = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  if most and held + added > most + 0.01 then
    answers[i] = -math.ceil(held) - 1
  else
    held = held + added
    if added > 0 then redis.call('SET', key, string.format('%.3f', now + held), 'PX', math.ceil(held) + 1) end
    answers[i] = math.ceil(held)
  end
end
return answers
