import { sha256Hex } from '../kit/hash.ts';
import { isObject } from '../kit/object.ts';
import { type Job, nameOf, readJob } from './job.ts';

/** The most jobs that travel together: what a worker that dies can have taken along. */
const MAX_JOBS = 32;
/** The most that travel together where there are not as many slots. */
const FEW_JOBS = 16;

/** In a long run, so many slots are not kept busy by jobs that are taken one by one. */
const SLOTS_PER_JOB = 16;

/**
 * Jobs that are taken from the queue together, since taking costs as much as running a short one. While there is plenty to do
 * bundles are large. Toward the end they get smaller, down to single jobs where there are not many slots, so that all slots end
 * at the same time.
 */
export function bundleJobs(jobs: readonly Job[], slots: number): Job[][] {
  const bundles: Job[][] = [];
  const most = Math.min(MAX_JOBS, Math.max(FEW_JOBS, slots));
  const least = jobs.length > 2 * slots ? Math.max(1, Math.floor(slots / SLOTS_PER_JOB)) : 1;
  for (let at = 0; at < jobs.length; at += bundles.at(-1)!.length) {
    const share = slots === 0 ? 1 : Math.floor((8 * (jobs.length - at - slots)) / slots);
    bundles.push(jobs.slice(at, at + Math.min(most, Math.max(least, share))));
  }
  return bundles;
}

/** One job alone has its own name, so that it is in the queue once, whoever puts it there. */
export const bundleName = (jobs: readonly Job[]): string =>
  jobs.length === 1
    ? nameOf(jobs[0]!)
    : `${jobs[0]!.run}_all_${sha256Hex(jobs.map(nameOf).join(' ')).slice(0, 24)}`;

/** A bundle as it came out of the queue. */
export interface Bundle {
  readonly jobs: readonly Job[];
  /** They may have been begun before, by a worker that has died. */
  readonly isAgain: boolean;
  /** How often it was taken and put off, because no one collected its run: that was not the end of a worker. */
  readonly putOff: number;
}

/** A bundle as it is in the queue. */
export const bundleData = (
  jobs: readonly Job[],
  { isAgain = false, putOff = 0 } = {},
): unknown => ({
  ...(jobs.length === 1
    ? jobs[0]
    : { run: jobs[0]!.run, jobs: jobs.map(({ run: _, ...job }) => job) }),
  again: isAgain || undefined,
  put_off: putOff > 0 ? putOff : undefined,
});

/** A bundle as it came out of the queue; undefined where it is not one. */
export function readBundle(value: unknown): Bundle | undefined {
  if (!isObject(value)) return undefined;
  const jobs = jobsIn(value);
  const { put_off: putOff } = value;
  return (
    jobs && {
      jobs,
      isAgain: value.again === true,
      putOff: Number.isInteger(putOff) ? (putOff as number) : 0,
    }
  );
}

function jobsIn({ run, jobs, ...job }: Readonly<Record<string, unknown>>): Job[] | undefined {
  if (jobs === undefined) {
    const one = readJob({ run, ...job });
    return one && [one];
  }
  if (!Array.isArray(jobs) || jobs.length === 0 || jobs.length > MAX_JOBS) return undefined;
  const read = jobs.map((each: unknown) =>
    isObject(each) ? readJob({ ...each, run }) : undefined,
  );
  return read.every((each) => each !== undefined) ? read : undefined;
}

/** What BullMQ is given for each bundle. */
export const queueEntry = (jobs: readonly Job[], about: { readonly isAgain?: boolean } = {}) => ({
  name: 'run',
  data: bundleData(jobs, about),
  opts: { jobId: bundleName(jobs), removeOnComplete: true, removeOnFail: false, attempts: 1 },
});
