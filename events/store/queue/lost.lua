-- Return the members of the index of what is due that neither wait nor are in the hands of a worker that may live.
-- A lease from before the moment of a member was for an earlier version, which is past (a queue that has come back older).
-- ARGV  now (ms since 1970), then members, each with the moment since which it is due
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
