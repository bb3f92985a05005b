-- Let a hook send one message of a match, or a test: it is due at once, beside what the hook has to send anyway.
-- KEYS  1 stream; the other keys of the partition follow from it   ARGV  1 the player, the hook and the message
-- returns 1: due | 0: it was due already
local tag, match = partition_and_match(KEYS[1], 's')
if not string.match(ARGV[1], '^p[a-z2-7]+/h[a-z2-7]+/[%w_-]+$') then error({err = 'ERR not a message of a hook'}) end
if not add_hook(tag .. ':', match .. '|' .. ARGV[1], 0) then return 0 end
redis.call('PUBLISH', tag .. ':hooks', match)
return 1
