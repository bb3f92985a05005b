-- Look up a study. Begin it if it does not exist and somebody asks for it. This is atomic.
--
-- study:<name>            hash: `asker`, and `answer` once it is done; it expires
-- study:<name>:parts      list of the finished parts; it expires with the study
-- study:of:<kind>:<asker> set of the studies of an asker that may not be done yet
-- study:done:<kind>       sorted set of finished studies, scored by the time when they were finished (ms)
--
-- ARGV  1 name  2 kind  3 asker, or "" only to look  4 how many an asker may have at a time  5 ms that it waits to be begun
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
