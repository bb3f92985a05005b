-- Keep how far the bulk files of a server's log have come, with the parts that are now complete, or change nothing. Parts never change.
-- KEYS  1 the state  2.. for each part the parts of its file
-- ARGV  1 expected revision  2 number of fields n  3..2+2n fields of the state with their values  then for each part its number and its row
-- returns 1: kept | 0: another process was faster
local start = server_log_of(KEYS[1], 'bulk')
local revision, n = whole(ARGV[1], 0), whole(ARGV[2], 0)
if #ARGV ~= 2 + 2 * n + 2 * (#KEYS - 1) then error({err = 'ERR the numbers of keys and arguments do not fit'}) end
for place = 2, #KEYS do
  local rest = string.sub(KEYS[place], #start + 1)
  if string.sub(KEYS[place], 1, #start) ~= start or not string.match(rest, '^b:[a-z][a-z0-9_]*/%d%d%d%d%-%d%d$') then
    error({err = 'ERR the keys are not those of one log'})
  end
end
if tonumber(redis.call('HGET', KEYS[1], 'revision') or 0) ~= revision then return 0 end
for place = 2, #KEYS do
  local number = 3 + 2 * n + 2 * (place - 2)
  redis.call('XADD', KEYS[place], string.format('%d-0', whole(ARGV[number], 1)), 'p', ARGV[number + 1])
end
for place = 3, 2 + 2 * n, 2 do redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1]) end
redis.call('HSET', KEYS[1], 'revision', string.format('%d', revision + 1))
return 1
