-- Return the entries after a version, and the answer to a request if it was carried out.
-- KEYS  1 stream  2 requests   ARGV  1 version  2 request ("" for none)  3 longest tail  4 digest of the version ("" not to check)
-- returns {head, tail, answer or "", its entries}; the head is -1 if another entry has the version
local known, entries = '', {}
if ARGV[2] ~= '' then
  known = redis.call('HGET', KEYS[2], ARGV[2]) or ''
  if known ~= '' then
    local first, last = string.match(known, '^(%d+):(%d+):')
    entries = redis.call('XRANGE', KEYS[1], first, last)
  end
end
local version = tonumber(ARGV[1])
-- The store may have lost entries that the caller knows, and accepted others.
if ARGV[4] ~= '' and 0 < version and redis.call('XLEN', KEYS[1]) >= version then
  local stored = redis.call('XRANGE', KEYS[1], string.format('%d-0', version), string.format('%d-0', version))[1]
  if not has_digest(stored, ARGV[4]) then return {-1, {}, known, entries} end
end
local after = string.format('%d-0', version + 1)
return {redis.call('XLEN', KEYS[1]), redis.call('XRANGE', KEYS[1], after, '+', 'COUNT', ARGV[3]), known, entries}
