-- Return the members of the index of what is due that neither wait nor are in the hands of a worker that may live.
-- ARGV  now (ms since 1970), then members
-- returns members
local lost = {}
for place = 2, #ARGV do
  local member = ARGV[place]
  local kind = string.match(member, '^[^|]*')
  if redis.call('HEXISTS', 'fair:' .. kind .. ':versions', member) == 0 then
    local till = string.match(redis.call('GET', 'fair:' .. kind .. ':taken:' .. member) or '', '(%d+)$')
    if not till or tonumber(till) <= tonumber(ARGV[1]) then lost[#lost + 1] = member end
  end
end
return lost
