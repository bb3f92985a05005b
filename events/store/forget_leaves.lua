-- Forget which leaves of a server's log a match has: its object in the archive says so. Only the archivist may.
-- KEYS  the leaves of the match, one key for each log of the server
-- ARGV  1 the match  2.. for each key how often the match had come back when it was archived ("" for never): otherwise it is back again
-- returns the number of removed keys
local removed = 0
if #ARGV ~= 1 + #KEYS then error({err = 'ERR the number of arguments does not fit'}) end
for _, key in ipairs(KEYS) do
  if server_log_of(key, 'm:' .. string.match(ARGV[1], '^m[a-z2-7]+$')) == '' then error({err = 'ERR not the key of a match'}) end
end
for place, key in ipairs(KEYS) do
  if (redis.call('HGET', key, 'back') or '') == ARGV[1 + place] then removed = removed + redis.call('UNLINK', key) end
end
return removed
