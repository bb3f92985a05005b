-- Record in the side log of a match that staff was shown hidden information. For each reader and kind it has the first note, the newest note, and
-- the number of reads. Of the newest reads of all it has who saw what, each after its running hash (evidence/running.py).
-- KEYS  1 stream
-- ARGV  1 reader (a player or "admin")  2 what was shown  3 the signed note  4 the version  5 the moment, in ms
--       6 the running hash of the reads so far, as "count hash" ("" for none)  7 the one after this read, in the same form
-- returns 1: done | 0: there is no such match | the running hash so far: it is another one, and nothing was done
local BYTES = 8000
local tag, match = partition_and_match(KEYS[1], 's')
if #ARGV ~= 7 then error({err = 'ERR the number of arguments does not fit'}) end
if ARGV[1] ~= 'admin' and not (#ARGV[1] == 17 and string.match(ARGV[1], '^p[a-z2-7]+$')) then error({err = 'ERR not a reader'}) end
local what = ARGV[2]
local known = what == 'dossier' or what == 'record' or what == 'audit' or string.match(what, '^view:[a-z][a-z0-9_]*$')
if not known or #what > 37 then error({err = 'ERR not a kind of read'}) end
if #ARGV[3] > 2000 then error({err = 'ERR the note is too long'}) end
local version, at = string.format('%d', whole(ARGV[4], 0)), string.format('%d', whole(ARGV[5], 0))
local number, after = string.match(ARGV[7], '^(%d+) (%x+)$')
check_hash(after or '')
if redis.call('XLEN', KEYS[1]) == 0 then return 0 end
local reads, start = tag .. ':w:' .. match, ARGV[1] .. '|' .. what .. '|'
local head = redis.call('HGET', reads, 'head') or ''
if head ~= ARGV[6] then return head end
if tonumber(number) ~= tonumber(string.match(head, '^%d+') or 0) + 1 then error({err = 'ERR not the next read'}) end
local newest = (redis.call('HGET', reads, 'newest') or '') .. string.format('%s %s %s %s %s\n', after, version, at, ARGV[1], what)
while #newest > BYTES do
  redis.call('HSET', reads, 'base', string.sub(newest, 1, 64))
  newest = string.sub(newest, string.find(newest, '\n', 1, true) + 1)
end
local count = (redis.call('HGET', reads, start .. 'count') or 0) + 1
if count == 1 then redis.call('HSET', reads, start .. 'first', ARGV[3]) end
redis.call('HSET', reads, start .. 'newest', ARGV[3], start .. 'count', string.format('%d', count), 'newest', newest, 'head', ARGV[7])
return 1
