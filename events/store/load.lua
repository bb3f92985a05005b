-- Return what is needed to build a position at the head or at a version: a snapshot, the entries after it, and the secret.
-- KEYS  1 stream  2 snapshots  3 secret   ARGV  1 version ("" for the newest)  2 longest tail
-- returns {head, snapshot or "", entries after it up to the version, secret or "", version of the snapshot or 0}
local wanted = tonumber(ARGV[1])
local head, best = redis.call('XLEN', KEYS[1]), 0
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local version = tonumber(field)
  if version and version > best and version <= (wanted or head) then best = version end
end
local snapshot = ''
if best > 0 then snapshot = redis.call('HGET', KEYS[2], string.format('%d', best)) or '' end
local last = '+'
if wanted then last = string.format('%d-0', wanted) end
local entries = {}
if not wanted or best < wanted then
  entries = redis.call('XRANGE', KEYS[1], string.format('%d-0', best + 1), last, 'COUNT', ARGV[2])
end
return {head, snapshot, entries, redis.call('GET', KEYS[3]) or '', best}
