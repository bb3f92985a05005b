-- Return the entries after a version, and the answer to a request if it was carried out.
-- KEYS  1 stream  2 requests   ARGV  1 version  2 tag of the request ("" for none)  3 longest tail  4 digest of the version in 32 bytes ("" not to check)
-- returns {head, tail, the entries that answer the request}; the head is -1 if another entry has the version
local known = {}
if ARGV[2] ~= '' then
  known = answer_to(KEYS[1], KEYS[2], ARGV[2], redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', BLOCK)) or {}
end
local version = tonumber(ARGV[1])
-- The store may have lost entries that the caller knows, and accepted others.
if ARGV[4] ~= '' and 0 < version and redis.call('XLEN', KEYS[1]) >= version then
  if not has_digest(item_at(KEYS[1], version), ARGV[4]) then return {-1, {}, known} end
end
local after = string.format('%d-0', version + 1)
return {redis.call('XLEN', KEYS[1]), redis.call('XRANGE', KEYS[1], after, '+', 'COUNT', ARGV[3]), known}
