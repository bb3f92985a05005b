-- Forget which leaves of a server's log a match has: its object in the archive says so. Only the archivist may.
-- KEYS  the leaves of the match, one key for each log of the server   ARGV  1 the match
-- returns the number of removed keys
for _, key in ipairs(KEYS) do
  if server_log_of(key, 'm:' .. string.match(ARGV[1], '^m[a-z2-7]+$')) == '' then error({err = 'ERR not the key of a match'}) end
end
return redis.call('UNLINK', unpack(KEYS))
