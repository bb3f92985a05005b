-- What is needed to go on with a match, or to show it at a version: a snapshot, the entries after it, the secret.
-- KEYS  1 stream  2 snapshots  3 secret   ARGV  1 version ("" for the newest)  2 longest tail
-- gives {head, snapshot or "", entries after it up to the version, secret or ""}
local most = tonumber(ARGV[1])
local head, best = redis.call('XLEN', KEYS[1]), 0
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local version = tonumber(field)
  if version and version > best and version <= (most or head) then best = version end
end
local snapshot = ''
if best > 0 then snapshot = redis.call('HGET', KEYS[2], string.format('%d', best)) end
local last = '+'
if most then last = string.format('%d-0', most) end
local entries = {}
if not most or best < most then
  entries = redis.call('XRANGE', KEYS[1], string.format('%d-0', best + 1), last, 'COUNT', ARGV[2])
end
return {head, snapshot, entries, redis.call('GET', KEYS[3]) or ''}
