-- Remove a derived key, or a member of an index, of the due index or of pending. Entries and secrets cannot be removed.
-- KEYS  1 standing, requests, snapshots, index, due or pending   ARGV  1 the member (no arguments: the whole key)
-- returns the number of removed keys or members
local kind = string.match(KEYS[1], '^{p%d%d?%d?}:([mrdi]):.') or string.match(KEYS[1], '^{p%d%d?%d?}:(due)$')
  or string.match(KEYS[1], '^{p%d%d?%d?}:(pending)$')
local sorted = kind == 'i' or kind == 'due' or kind == 'pending'
if not kind or sorted ~= (#ARGV == 1) then error({err = 'ERR not a key or member that is derived from streams'}) end
if sorted then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return redis.call('UNLINK', KEYS[1])
