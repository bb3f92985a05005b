-- What the functions share. Each function names its keys in full; these check that the keys belong together.

-- Return the hash tag of the partition and the match of a key of the given kind, such as 's' for a stream.
local function partition_and_match(key, kind)
  local tag, match = string.match(key, '^({p%d%d?%d?}):' .. kind .. ':(.+)$')
  if not tag then error({err = 'ERR not the key of a match'}) end
  return tag, match
end

-- Raise an error unless the keys from `first` on are those of the given kinds of one match, in this order.
local function check_keys(keys, first, tag, match, kinds)
  for place = 1, #kinds do
    local kind = kinds[place]
    local expected = kind == 'due' and tag .. ':due' or tag .. ':' .. kind .. ':' .. match
    if keys[first + place - 1] ~= expected then error({err = 'ERR the keys are not those of one match'}) end
  end
end

-- Raise an error unless the keys from `first` on are indexes of a partition.
local function check_indexes(keys, first, tag)
  local start = tag .. ':i:'
  for place = first, #keys do
    if string.sub(keys[place], 1, #start) ~= start then error({err = 'ERR not an index of the partition'}) end
  end
end

-- Return an argument as a whole number that is at least `least`.
local function whole(text, least)
  local number = tonumber(text)
  if not number or number < least or number >= 9007199254740992 or number % 1 ~= 0 then
    error({err = 'ERR an argument is not a whole number in its range'})
  end
  return number
end
