-- Notes what a process holds, and tells what the others hold. Both are JSON. A process that does not call again is forgotten.
-- KEYS[1]: the notes.  ARGV: the process; what it holds, or "" for nothing; for how many ms that counts
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now + ARGV[3], ARGV[2]))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local found = {}
local notes = redis.call('HGETALL', KEYS[1])
for place = 1, #notes, 2 do
  local last, held = string.match(notes[place + 1], '^(%d+) (.*)$')
  if tonumber(last) < now then
    redis.call('HDEL', KEYS[1], notes[place])
  elseif notes[place] ~= ARGV[1] then
    found[#found + 1] = held
  end
end
return found
