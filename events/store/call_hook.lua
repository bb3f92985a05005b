-- Let a hook send one message of a match, or a test: it is due at once, beside what the hook has to send anyway.
-- KEYS  1 stream; the other keys of the partition follow from it   ARGV  1 the player, the hook and the message
-- Whoever has taken the same message already hands in another cursor than the one that is here then, so it is sent once more.
local tag, match = partition_and_match(KEYS[1], 's')
if not string.match(ARGV[1], '^p[a-z2-7]+/h[a-z2-7]+/[%w_-]+$') then error({err = 'ERR not a message of a hook'}) end
local of_partition, item = tag .. ':', match .. '|' .. ARGV[1]
if not add_hook(of_partition, item, 0) then
  local asked = string.match(redis.call('HGET', of_partition .. 'cursors', item) or '', '%d+$')
  redis.call('HSET', of_partition .. 'cursors', item, string.format('0 0 %d', (tonumber(asked) or 0) + 1))
  redis.call('ZADD', of_partition .. 'hooks', now_ms(), item)
end
redis.call('PUBLISH', tag .. ':hooks', match)
return 1
