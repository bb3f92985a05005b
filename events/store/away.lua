-- Where matches are that are filed away (filing.lua). `{p3}:beside` has a hash of the side log of each match that has one: its object is named by it.

-- Raise an error unless this can be the hash of a side log, or "" for none.
local function check_sidelog(hash)
  if hash ~= '' and (#hash ~= 16 or string.find(hash, '[^0-9a-f]')) then error({err = 'ERR not the hash of a side log'}) end
end

-- Return how a match is filed away as text: the head, the digest of the entry there, and the hash of its side log if it has one.
local function away_at(head, digest, sidelog)
  return string.format('%d %s', head, digest) .. (sidelog == '' and '' or ' ' .. sidelog)
end

-- Return how a match is filed away as text, or false.
local function away(of_partition, match)
  local row = filed(of_partition, match)
  local sidelog = row and redis.call('HGET', of_partition .. 'beside', match)
  return sidelog and row .. ' ' .. sidelog or row
end

-- Note the hash of the side log of a match that is filed away, or "" for none.
local function note_sidelog(of_partition, match, hash)
  check_sidelog(hash)
  if hash == '' then redis.call('HDEL', of_partition .. 'beside', match) else redis.call('HSET', of_partition .. 'beside', match, hash) end
end

-- Return the version of a match in the store or filed away; 0 if there is none.
local function version_of(of_partition, match)
  local head = redis.call('XLEN', of_partition .. 's:' .. match)
  if head > 0 then return head end
  local row = row_of_match(files_of(of_partition), match)
  return row and (head_of(row)) or 0
end
