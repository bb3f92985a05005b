-- Hand in what a hook had to send for a match. What was appended meanwhile is due at once.
-- KEYS  1 stream; the other keys of the partition follow from it
-- ARGV  1 the player and the hook, and perhaps a message  2 the cursor as it was taken
--       3 the new cursor, or the version up to which all is sent, or "" if nothing is ever to be sent  4 ms until the rest is due
-- returns 1: done | 0: another worker has handed it in
local tag, match = partition_and_match(KEYS[1], 's')
local item, hooks, cursors = match .. '|' .. ARGV[1], tag .. ':hooks', tag .. ':cursors'
if not string.match(ARGV[3], '^%d+ %d+ %d+$') and not string.match(ARGV[3], '^%d*$') then error({err = 'ERR not a cursor'}) end
local delay, sent = whole(ARGV[4], 0), tonumber(ARGV[3])
if redis.call('HGET', cursors, item) ~= ARGV[2] then return 0 end
if ARGV[3] == '' or (sent and version_of(tag .. ':', match) <= sent) then
  redis.call('HDEL', cursors, item)
  redis.call('ZREM', hooks, item)
  return 1
end
redis.call('HSET', cursors, item, sent and string.format('%d 0 0', sent) or ARGV[3])
redis.call('ZADD', hooks, now_ms() + delay, item)
return 1
