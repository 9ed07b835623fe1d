import { sha256Hex } from '../kit/hash.ts';

/** Everything of ours in a Redis begins with it. */
export const PREFIX = 'agentci';

/** Workers that have been seen, with the time of the last sign of life. */
export const WORKERS_KEY = `${PREFIX}:workers`;

/** Why nothing more is started in a run that has all its results. */
export const OVER = 'over';

/** Why nothing more is started in a run that has cost what it may. */
export const MAX_COST = 'max_cost';

/** The keys of one run; the braces keep them on one node of a cluster. */
export const runKeys = (run: string) => {
  const key = (part: string): string => `${PREFIX}:{${run}}:${part}`;
  return {
    /** What the run is, for workers. */
    ticket: key('ticket'),
    /** Who collects it; gone when no one does. */
    lease: key('lease'),
    /** Why nothing more is to be started. */
    stop: key('stop'),
    /** Jobs with a result: the first one counts. */
    done: key('done'),
    /** How often each job was begun. */
    starts: key('starts'),
    /** Results on their way to the collector. */
    results: key('results'),
    /** Workers that have the run's agent ready, and will say when they have ended it. */
    open: key('open'),
    /** What agents have cost so far. */
    spent: key('spent'),
    /** All results were collected. It stays for a while, for a collector that slept through the end. */
    over: key('over'),
  };
};

export type RunKeys = ReturnType<typeof runKeys>;

/** Work is only seen by workers that have the same spec and the same version of this program. */
export const queueName = (spec: string, version: string): string =>
  `q-${sha256Hex(`${spec} ${version}`).slice(0, 24)}`;

/** After the name of a job: how often workers got ready for it. */
export const READY = ' ready';

/** A job that was begun once beside others and this often alone, and never ended, has killed as many workers. */
export const MAX_ALONE = 2;
