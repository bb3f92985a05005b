-- Where matches are: in the store, or filed away (filing.lua).

-- Return the version of a match in the store or filed away; 0 if there is none.
local function version_of(of_partition, match)
  local head = redis.call('XLEN', of_partition .. 's:' .. match)
  if head > 0 then return head end
  local row = row_of_match(files_of(of_partition), match)
  return row and (head_of(row)) or 0
end
