-- Forget which leaves of a server's log a match has: its object in the archive says so. Only the archivist may.
-- KEYS  the leaves of the match, one key for each log of the server
-- ARGV  1 the match  2.. for each key how often the match had come back when it was archived ("" for never), and the number of leaves that its
--       object says: otherwise it is back again, or has got another leaf
-- returns the number of removed keys
local removed = 0
if #ARGV ~= 1 + 2 * #KEYS then error({err = 'ERR the number of arguments does not fit'}) end
for _, key in ipairs(KEYS) do
  if server_log_of(key, 'm:' .. string.match(ARGV[1], '^m[a-z2-7]+$')) == '' then error({err = 'ERR not the key of a match'}) end
end
for place, key in ipairs(KEYS) do
  local back, number = ARGV[2 * place], whole(ARGV[2 * place + 1], 0)
  if (redis.call('HGET', key, 'back') or '') == back and redis.call('HLEN', key) == number + (back == '' and 0 or 1) then
    removed = removed + redis.call('UNLINK', key)
  end
end
return removed
