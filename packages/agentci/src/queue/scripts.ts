import { MAX_COST } from './names.ts';

/**
 * What must happen in one step in Redis. Each is given the keys of a run first, in the order of its parameters.
 */
export const SCRIPTS = {
  /** Whether a worker may begin a job again: `gone`, `done`, `stop`, `orphan` (no one collects the run), or `go`. Counts the start where it may. */
  admit: {
    numberOfKeys: 5,
    lua: `
local ticket, lease, stop, done, starts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if redis.call('EXISTS', ticket) == 0 then return {'gone', '0'} end
if redis.call('HEXISTS', done, ARGV[1]) == 1 then return {'done', '0'} end
if redis.call('EXISTS', stop) == 1 then return {'stop', '0'} end
if redis.call('EXISTS', lease) == 0 then return {'orphan', '0'} end
return {'go', tostring(redis.call('HINCRBY', starts, ARGV[1], 1) - 1)}`,
  },
  /**
   * Delivers results, four arguments each: the first one of a job counts, what later ones cost is told. Returns 1 or 0 for each,
   * and nothing at all where no one wants them. A letter that was delivered already, and is sent again because no reply came,
   * changes nothing.
   */
  deliver: {
    numberOfKeys: 5,
    lua: `
local ticket, done, results, spent, stop = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if redis.call('EXISTS', ticket) == 0 then return {} end
local firsts = {}
for i = 3, #ARGV, 4 do
  local job, data, cost, letter = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local first = redis.call('HSETNX', done, job, letter)
  local isSame = first == 0 and redis.call('HGET', done, job) == letter
  if isSame then
    first = 1
  elseif first == 1 or redis.call('HSETNX', done, letter, '') == 1 then
    if cost ~= '0' or ARGV[1] ~= '' then
      local total = tonumber(redis.call('INCRBYFLOAT', spent, cost))
      if ARGV[1] ~= '' and total >= tonumber(ARGV[1]) then redis.call('SET', stop, '${MAX_COST}') end
    end
    local kind = first == 1 and 'result' or 'duplicate'
    redis.call('XADD', results, '*', 'kind', kind, 'job', job, 'cost', cost, 'data', first == 1 and data or '')
  end
  firsts[#firsts + 1] = first
end
for _, key in ipairs({done, results, spent}) do redis.call('EXPIRE', key, ARGV[2]) end
return firsts`,
  },
  /** Notes that a worker has the agent of a run ready. One of a run that Redis does not know is noted later. */
  sign: {
    numberOfKeys: 2,
    lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local added = redis.call('SADD', KEYS[2], ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return added`,
  },
  /** Keeps the lease on a run: 1 held, 2 taken again after it was lost, 0 someone else has it, 3 someone else has finished the run. */
  holdLease: {
    numberOfKeys: 2,
    lua: `
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 end
if holder then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 3 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 2`,
  },
  /** Gives the lease back, if it is ours. */
  dropLease: {
    numberOfKeys: 1,
    lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
  },
} as const;
