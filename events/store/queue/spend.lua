-- Add to counters and return what they hold. A counter holds milliseconds that run out by themselves (a leaky bucket, GCRA). Its key
-- expires when they have. All keys are in one slot.
-- KEYS  1.. counters   ARGV for each of them: the milliseconds to add, and the most that it may hold then ("" for any)
-- returns for each of them the milliseconds that it holds, or if that is more than it may hold: the number of those that it holds now,
--         negative and less by one. Nothing was added to such a counter
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local answers = {}
for i, key in ipairs(KEYS) do
  local held = math.max(0, tonumber(redis.call('GET', key) or '0') - now)
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
