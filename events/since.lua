-- What has been appended since a version, and whether a request has been carried out.
-- KEYS  1 stream  2 requests   ARGV  1 version  2 request ("" for none)  3 longest tail
-- gives {head, tail, answer or "", its entries}
local known, entries = '', {}
if ARGV[2] ~= '' then
  known = redis.call('HGET', KEYS[2], ARGV[2]) or ''
  if known ~= '' then
    local first, last = string.match(known, '^(%d+):(%d+):')
    entries = redis.call('XRANGE', KEYS[1], first, last)
  end
end
local after = string.format('%d-0', tonumber(ARGV[1]) + 1)
return {redis.call('XLEN', KEYS[1]), redis.call('XRANGE', KEYS[1], after, '+', 'COUNT', ARGV[3]), known, entries}
