import { sha256Hex } from '@agentci/lib/data';

/** Prefix of all keys of AgentCI in a Redis. */
export const PREFIX = 'agentci';

/** Workers with the time of their last heartbeat. */
export const WORKERS_KEY = `${PREFIX}:workers`;

/** Value of `stop` once a run has all its results: workers close its agent. */
export const OVER = 'over';

/** Value of `stop` once a run has reached --max-cost. */
export const MAX_COST = 'max_cost';

/** Expiry of the data of an unfinished run. */
export const KEEP_S = 7 * 24 * 3600;

/** A job that was started this often and never finished kills its workers. */
export const MAX_STARTS = 3;

export const DEADLY = `${MAX_STARTS} workers died while they ran it, the last ones with nothing else to do`;

/** The keys of one run. The braces keep them on one node of a Redis cluster. */
export const runKeys = (run: string) => {
  const key = (part: string): string => `${PREFIX}:{${run}}:${part}`;
  return {
    /** The description of the run, for workers. */
    about: key('about'),
    /** Held by the collector. */
    lease: key('lease'),
    /** Set when no more jobs may start. The value is the reason. */
    stop: key('stop'),
    /** Jobs that have a result. Later results are duplicates. */
    done: key('done'),
    /** Number of starts of each unfinished job. */
    starts: key('starts'),
    /** Stream of messages for the collector. */
    results: key('results'),
    /** Workers that have opened the agent of the run. */
    open: key('open'),
    /** Cost of the agent so far. */
    spent: key('spent'),
    /** Set for a day when the run has finished. */
    over: key('over'),
  };
};

export type RunKeys = ReturnType<typeof runKeys>;

/** One queue per spec and version: a worker sees only jobs that it can run. */
export const queueName = (spec: string, version: string): string =>
  `q-${sha256Hex(`${spec} ${version}`).slice(0, 24)}`;
