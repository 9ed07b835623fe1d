import { sha256Hex } from '../kit/hash.ts';
import { isObject } from '../kit/object.ts';
import { type Job, nameOf, readJob } from './job.ts';

/** The most jobs that travel together: what a worker that dies can have taken along. */
const MAX_JOBS = 8;

/** What is left is dealt out in more than one round, so that slots that were quick get more. */
const ROUNDS = 1.5;

/**
 * Jobs that are taken from the queue together, since taking costs as much as running a short one. They are dealt out like cards,
 * so that they begin in their order. While there is plenty to do bundles are large; toward the end they get smaller, so that
 * all slots end at the same time.
 */
export function bundleJobs(jobs: readonly Job[], slots: number): Job[][] {
  if (slots === 0) return jobs.map((job) => [job]);
  const bundles: Job[][] = [];
  for (let at = 0; at < jobs.length; ) {
    const share = Math.floor((jobs.length - at) / (ROUNDS * slots));
    const size = Math.min(MAX_JOBS, Math.max(1, share));
    const round = jobs.slice(at, at + size * slots);
    const count = Math.min(slots, round.length);
    for (let first = 0; first < count; first++) bundles.push(round.filter((_, i) => i % count === first));
    at += round.length;
  }
  return bundles;
}

/** One job alone has its own name, so that it is in the queue once, whoever puts it there. */
export const bundleName = (jobs: readonly Job[]): string =>
  jobs.length === 1 ? nameOf(jobs[0]!) : `${jobs[0]!.run}_all_${sha256Hex(jobs.map(nameOf).join(' ')).slice(0, 24)}`;

/** A bundle as it is in the queue. */
export const bundleData = (jobs: readonly Job[]): unknown =>
  jobs.length === 1 ? jobs[0] : { run: jobs[0]!.run, jobs: jobs.map(({ run: _, ...job }) => job) };

/** The jobs of a bundle as it came out of the queue; undefined where it is not one. */
export function readBundle(value: unknown): Job[] | undefined {
  if (!isObject(value) || value.jobs === undefined) {
    const job = readJob(value);
    return job && [job];
  }
  const { run, jobs } = value;
  if (!Array.isArray(jobs) || jobs.length === 0 || jobs.length > MAX_JOBS) return undefined;
  const read = jobs.map((job: unknown) => (isObject(job) ? readJob({ ...job, run }) : undefined));
  return read.every((job) => job !== undefined) ? read : undefined;
}

/** What BullMQ is given for each bundle. */
export const queueEntry = (jobs: readonly Job[]) => ({
  name: 'run',
  data: bundleData(jobs),
  opts: { jobId: bundleName(jobs), removeOnComplete: true, removeOnFail: false, attempts: 1 },
});
