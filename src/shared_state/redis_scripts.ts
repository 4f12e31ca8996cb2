/**
 * Scripts that Redis runs as one step each. Times are those of its clock, so that the clocks of nodes do not matter,
 * and the work of each is bounded. The names of keys begin with `edgeproof:`.
 */

/**
 * The sliding window of `filters/rate_limit/algorithm.ts` for one key: eleven slots, and the slot of the last change.
 * A new key beyond the limit of keys shares the window of all such keys.
 * KEYS: window, shared window, number of keys that were used in a span of eleven slots. ARGV: capacity, length of a slot in ms, limit of keys.
 * Returns 0, or the time to wait in ms.
 */
export const TAKE = `
local RING = 11
local capacity, slot_ms, key_limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / slot_ms)
local life = slot_ms * (RING + 1)
local key = KEYS[1]
local kept = redis.call('GET', key)
local era = math.floor(slot / RING)
if not kept then
  local recent = tonumber(redis.call('GET', KEYS[3] .. era) or '0')
  local former = tonumber(redis.call('GET', KEYS[3] .. (era - 1)) or '0')
  if recent + former >= key_limit then
    key = KEYS[2]
    kept = redis.call('GET', key)
  end
end
local last, counts = slot, nil
if kept then
  local unpacked = cmsgpack.unpack(kept)
  last, counts = unpacked[1], unpacked[2]
else
  counts = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
  -- What keys beyond the limit shared may be of this key.
  local shared = key == KEYS[1] and redis.call('GET', KEYS[2])
  if shared then
    local unpacked = cmsgpack.unpack(shared)
    last, counts = unpacked[1], unpacked[2]
  end
end
if slot < last then
  slot = last
  now = last * slot_ms
end
for each = math.max(last + 1, slot - RING + 1), slot do counts[each % RING + 1] = 0 end
local counted = 0
for each = 1, RING do counted = counted + counts[each] end
if counted < capacity then
  counts[slot % RING + 1] = counts[slot % RING + 1] + 1
  if key == KEYS[1] and (not kept or math.floor(last / RING) < era) then
    if redis.call('INCR', KEYS[3] .. era) == 1 then redis.call('PEXPIRE', KEYS[3] .. era, life * 2) end
  end
  redis.call('SET', key, cmsgpack.pack({slot, counts}), 'PX', life)
  return 0
end
local leaving = slot - RING + 1
while true do
  counted = counted - counts[leaving % RING + 1]
  if counted < capacity then return (leaving + RING) * slot_ms - now end
  leaving = leaving + 1
end
`;

/**
 * Marks an id as used. KEYS: id, time since which ids are remembered. ARGV: life in ms, when the id was made.
 * Returns 1 (fresh), 0 (used), -1 (made before that time, so it cannot be known) or -2 (the time is not known).
 */
export const USE_ONCE = `
local since = redis.call('GET', KEYS[2])
if not since then return -2 end
if tonumber(ARGV[2]) < tonumber(since) then return -1 end
return redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) and 1 or 0
`;

/**
 * Called on every connection before others: notes a server process that has not been seen, which may have forgotten
 * ids. KEYS: process, time since which ids are remembered. ARGV: id of the process. Returns whether it is a new one.
 */
export const MEET = `
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local time = redis.call('TIME')
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000))
return 1
`;

/**
 * Adds ends of sessions, each once. KEYS: times by key, stream, time before which all sessions have ended. ARGV: limit,
 * then key and time of each; times of sessions do not change. The oldest make way, and end all sessions as old as they.
 */
export const END = `
local limit = tonumber(ARGV[1])
for at = 2, #ARGV, 2 do
  local key, ms = ARGV[at], ARGV[at + 1]
  local known = redis.call('HGET', KEYS[1], key)
  if not known or (tonumber(known) < tonumber(ms) and string.sub(key, 1, 8) ~= 'session ') then
    redis.call('HSET', KEYS[1], key, ms)
    if redis.call('XLEN', KEYS[2]) >= limit then
      local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
      redis.call('XDEL', KEYS[2], oldest[1])
      local old_key, old_ms = oldest[2][2], oldest[2][4]
      if redis.call('HGET', KEYS[1], old_key) == old_ms then redis.call('HDEL', KEYS[1], old_key) end
      local before = redis.call('GET', KEYS[3])
      if not before or tonumber(before) < tonumber(old_ms) then redis.call('SET', KEYS[3], old_ms) end
    end
    redis.call('XADD', KEYS[2], '*', 'k', key, 'm', ms, 'b', redis.call('GET', KEYS[3]) or '')
  end
end
return 1
`;
