-- Look at a study, and begin it if there is none and somebody asks for it. Atomic.
--
-- study:<name>            hash: `asker`, and once it is done `answer`; it expires
-- study:<name>:parts      list of what is done of it so far; it expires with it
-- study:of:<kind>:<asker> set of the studies that somebody has asked for and that may not be done yet
-- study:done:<kind>       sorted set of those that are done, scored by when (ms)
--
-- ARGV  1 name  2 kind  3 asker, or "" to look only  4 how many an asker may have at a time  5 ms for which it waits to be begun
-- returns {answer or false, asker, number of parts, the last part or false}; {} if there is none; {-1} if the asker has too many
local name, kind, asker = ARGV[1], ARGV[2], ARGV[3]
local key = 'study:' .. name
local function found(whose)
  local parts = key .. ':parts'
  return {redis.call('HGET', key, 'answer'), whose, redis.call('LLEN', parts), redis.call('LINDEX', parts, -1)}
end

local known = redis.call('HGET', key, 'asker')
if known then return found(known) end
if asker == '' then return {} end
local own, number = 'study:of:' .. kind .. ':' .. asker, 0
for _, other in ipairs(redis.call('SMEMBERS', own)) do
  if redis.call('EXISTS', 'study:' .. other) == 1 and redis.call('HEXISTS', 'study:' .. other, 'answer') == 0 then
    number = number + 1
  else
    redis.call('SREM', own, other)
  end
end
if number >= tonumber(ARGV[4]) then return {-1} end
redis.call('SADD', own, name)
redis.call('PEXPIRE', own, 86400000)
redis.call('HSET', key, 'asker', asker)
redis.call('PEXPIRE', key, ARGV[5])
return found(asker)
