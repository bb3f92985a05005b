-- Return where a match is: in the store, filed away, or nowhere.
-- KEYS  1 stream
-- returns {head in the store or 0, how it is filed away or ""}
local tag, match = partition_and_match(KEYS[1], 's')
return {redis.call('XLEN', KEYS[1]), filed(tag .. ':', match) or ''}
