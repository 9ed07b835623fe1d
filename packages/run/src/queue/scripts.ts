import { KEEP_S, MAX_COST, MAX_STARTS } from './keys.ts';

/**
 * A worker that dies while it prepares the agent is not the fault of the job, unless this many die.
 */
const MAX_PREPARED = 10;

/** Each script gets all keys of a run, in the order of `runKeys`. */
const KEYS = 'local about, lease, stop, done, starts, results, open, spent, over = unpack(KEYS)';

export const KEY_COUNT = 9;

/** Lua scripts. Each runs as one step in Redis and may be sent again if its reply was lost. */
export const SCRIPTS = {
  /** Takes or renews the lease: 0 another process holds it, 1 held but Redis did not know the run, 2 held, 3 the run is over. */
  hold: `${KEYS}
local token, leaseMs, text = unpack(ARGV)
local holder = redis.call('GET', lease)
if holder and holder ~= token then return 0 end
if not holder and redis.call('EXISTS', over) == 1 then return 3 end
local known = redis.call('EXISTS', about)
redis.call('SET', lease, token, 'PX', leaseMs)
redis.call('SET', about, text, 'EX', ${KEEP_S})
return 1 + known`,
  /**
   * Asks to start a job. Answers `run` or the reason not to: `gone`, `done`, `stopped`, `waiting`
   * (no collector), `repeat` (it was started before: ask again when the worker runs nothing else),
   * `deadly` (it killed its workers).
   */
  start: `${KEYS}
local job, worker, alone = unpack(ARGV)
local text = redis.call('GET', about)
if not text then return {'gone'} end
if redis.call('HEXISTS', done, job) == 1 then return {'done'} end
if redis.call('EXISTS', stop) == 1 then return {'stopped'} end
if redis.call('EXISTS', lease) == 0 then return {'waiting'} end
redis.call('SADD', open, worker)
local before = tonumber(redis.call('HGET', starts, job) or 0)
local state = 'run'
if before >= ${MAX_STARTS} then
  state = 'deadly'
elseif before > 0 and alone == '' then
  state = redis.call('HINCRBY', starts, job .. ' prepared', 1) > ${MAX_PREPARED} and 'deadly' or 'repeat'
else
  redis.call('HINCRBY', starts, job, 1)
  if before > 0 then redis.call('HINCRBY', starts, 'repeats', 1) end
end
for _, key in ipairs({starts, open}) do redis.call('EXPIRE', key, ${KEEP_S}) end
return {state, text}`,
  /**
   * Delivers a result: `first` counts, `duplicate` only reports its cost, `unwanted` means that
   * Redis does not know the run. The id distinguishes a duplicate result from a resent one.
   */
  deliver: `${KEYS}
local job, id, cost, limit, data = unpack(ARGV)
if redis.call('EXISTS', about) == 0 then return 'unwanted' end
local isFirst = redis.call('HSETNX', done, job, id) == 1
if not isFirst then
  if redis.call('HGET', done, job) == id then return 'first' end
  if redis.call('HSETNX', done, id, '') == 0 then return 'duplicate' end
end
redis.call('HDEL', starts, job, job .. ' prepared')
if cost ~= '0' then
  local total = tonumber(redis.call('INCRBYFLOAT', spent, cost))
  if limit ~= '' and total >= tonumber(limit) then redis.call('SET', stop, '${MAX_COST}', 'EX', ${KEEP_S}, 'NX') end
end
local kind = isFirst and 'result' or 'duplicate'
redis.call('XADD', results, '*', 'kind', kind, 'job', job, 'cost', cost, 'data', isFirst and data or '')
for _, key in ipairs({done, results, spent}) do redis.call('EXPIRE', key, ${KEEP_S}) end
return isFirst and 'first' or 'duplicate'`,
  /** Sends a message about the run, unless the run is gone. */
  notify: `${KEYS}
if redis.call('EXISTS', about) == 0 then return end
redis.call('XADD', results, '*', 'kind', 'note', 'data', ARGV[1])
redis.call('EXPIRE', results, ${KEEP_S})`,
} as const;
