-- Return the members of the due index that neither wait nor are with a worker that may be alive.
-- A lease from before the moment of a member belongs to an earlier version and does not count (the queue may be an older copy).
-- ARGV  now (ms since 1970), then members, each with the moment when it became due
-- returns members
local lost = {}
for place = 2, #ARGV, 2 do
  local member, moment = ARGV[place], tonumber(ARGV[place + 1])
  local kind = string.match(member, '^[^|]*')
  if redis.call('HEXISTS', 'fair:' .. kind .. ':versions', member) == 0 then
    local since, till = string.match(redis.call('GET', 'fair:' .. kind .. ':taken:' .. member) or '', '(%d+) (%d+)$')
    if not till or tonumber(till) <= tonumber(ARGV[1]) or tonumber(since) < moment then lost[#lost + 1] = member end
  end
end
return lost
