-- Record in the side log of a match that staff was shown hidden information. For each reader and kind it has the first note, the newest note, and
-- the number of reads.
-- KEYS  1 stream   ARGV  1 reader (a player or "admin")  2 what was shown  3 the signed note
-- returns 1: done | 0: there is no such match
local tag, match = partition_and_match(KEYS[1], 's')
if #ARGV ~= 3 then error({err = 'ERR the number of arguments does not fit'}) end
if ARGV[1] ~= 'admin' and not (#ARGV[1] == 17 and string.match(ARGV[1], '^p[a-z2-7]+$')) then error({err = 'ERR not a reader'}) end
local what = ARGV[2]
local known = what == 'dossier' or what == 'record' or what == 'audit' or string.match(what, '^view:[a-z][a-z0-9_]*$')
if not known or #what > 37 then error({err = 'ERR not a kind of read'}) end
if #ARGV[3] > 2000 then error({err = 'ERR the note is too long'}) end
if redis.call('XLEN', KEYS[1]) == 0 then return 0 end
local reads, start = tag .. ':w:' .. match, ARGV[1] .. '|' .. what .. '|'
local count = (redis.call('HGET', reads, start .. 'count') or 0) + 1
if count == 1 then redis.call('HSET', reads, start .. 'first', ARGV[3]) end
redis.call('HSET', reads, start .. 'newest', ARGV[3], start .. 'count', string.format('%d', count))
return 1
