import type { Queue } from 'bullmq';
import { readBundle } from './bundle.ts';
import type { QueuedJob } from './client.ts';
import { type Job, nameOf } from './job.ts';

/** Under which names the jobs of a run are in the queue: each by itself, or with others. */
export class Whereabouts {
  /** Where each job is that is not there by itself. */
  readonly #bundles = new Map<string, string>();
  /** Jobs that were there when the run was opened. */
  readonly #found = new Set<string>();

  note(jobs: readonly Job[], entry: string): void {
    for (const job of jobs) if (nameOf(job) !== entry) this.#bundles.set(nameOf(job), entry);
  }

  /** What an earlier collector of the run put in is still there, and what it put in together is still together. */
  async find(queue: Queue, run: string): Promise<void> {
    const queued = await queue.getJobs(['waiting', 'delayed', 'active']);
    for (const entry of queued as readonly (QueuedJob | undefined)[]) {
      const jobs = readBundle(entry?.data)?.jobs;
      if (jobs?.[0]?.run !== run) continue;
      this.note(jobs, entry!.id!);
      for (const job of jobs) this.#found.add(nameOf(job));
    }
  }

  /** It need not be put in: with others it would be there twice. */
  wasFound = (job: Job): boolean => this.#found.has(nameOf(job));

  /** The names under which it may be there. */
  of(job: Job): string[] {
    const name = nameOf(job);
    const bundle = this.#bundles.get(name);
    return bundle === undefined ? [name] : [name, bundle];
  }
}
