import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { UserError } from '../kit/user-error.ts';
import type { QueueAddress } from './address.ts';
import { bundleJobs, queueEntry, readBundle } from './bundle.ts';
import {
  type Client,
  connect,
  loadPackages,
  type QueuedJob,
  queueConnection,
  refuseUnfit,
} from './client.ts';
import { type Delivery, deliveryOf } from './delivery.ts';
import { Endurance } from './endurance.ts';
import { evenRate, type QueueRate } from './even-rate.ts';
import { type Job, nameOf, type Ticket } from './job.ts';
import { Lease, RENEW_MS } from './lease.ts';
import {
  MAX_ALONE,
  MAX_COST,
  OVER,
  PREFIX,
  queueName,
  READY,
  type RunKeys,
  runKeys,
} from './names.ts';
import { hangUp } from './pulse.ts';
import { Whereabouts } from './whereabouts.ts';
import { BEAT_MS, type SeenWorker, seenWorkers } from './worker-list.ts';

/** A job that came to no result. */
export interface LostJob {
  readonly job: Job;
  readonly why: string;
}

interface OpenOptions {
  readonly rate?: QueueRate | undefined;
  readonly onNote: (message: string) => void;
  /** How long to wait for a Redis that went away; a minute. */
  readonly patienceMs?: number | undefined;
  /** Aborted when the user has had enough. */
  readonly signal?: AbortSignal | undefined;
}

interface About extends OpenOptions {
  readonly address: QueueAddress;
  readonly ticket: Ticket;
}

/** How long what is left of a run that was not finished stays. */
const KEEP_S = 7 * 24 * 3600;
/** How long what BullMQ keeps for a spec stays after the last run: every change of a spec makes another queue. */
const QUEUE_S = 30 * 24 * 3600;
/** How long it is known that a run is over: a collector that slept longer than this would begin it anew. */
const OVER_S = 24 * 3600;
const TIDY_MS = 5000;
const CHUNK = 500;
/** How long workers may take to end their agents. */
const END_MS = 15_000;
/** How long they take to say that they are at work once a Redis that lost its data knows the run again. */
const SIGNED_MS = 1000;
/** How often it is looked whether they have: at first after this, then less and less often. */
const FIRST_POLL_MS = 5;
const POLL_MS = 50;

/** One run as its collector sees it: jobs go in, results come out, and no one else may do the same. */
export class RunQueue {
  readonly #redis: Client;
  /** A connection of its own: reading blocks it. */
  readonly #reader: Client;
  readonly #queue: Queue;
  readonly #ticket: Ticket;
  readonly #keys: RunKeys;
  readonly #lease: Lease;
  readonly #endurance: Endurance;
  readonly #whereabouts = new Whereabouts();
  #renewal: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #last = '0';
  #wasReset = false;
  #resetAt = Number.NEGATIVE_INFINITY;
  #wasKnown: boolean | undefined;
  /** How many jobs can be run at a time by the workers that were there at the beginning. */
  #slots = 0;
  /** Jobs that may have killed workers before the run was resumed. */
  #suspects: ReadonlySet<string> = new Set();
  /** A limit on each start needs jobs that are started one by one. */
  readonly #isOneByOne: boolean;

  private constructor(redis: Client, reader: Client, queue: Queue, about: About) {
    const { ticket, address, rate, onNote, patienceMs, signal } = about;
    this.#redis = redis;
    this.#reader = reader;
    this.#queue = queue;
    this.#ticket = ticket;
    this.#keys = runKeys(ticket.run);
    this.#lease = new Lease(redis, ticket.run);
    const onReady = (): void => void this.#renew().catch(() => {});
    const onFault = (): void => hangUp(reader);
    this.#endurance = new Endurance(redis, {
      address,
      onNote,
      patienceMs,
      signal,
      onReady,
      onFault,
    });
    this.#isOneByOne = rate !== undefined || ticket.settings.maxCostUsd !== undefined;
  }

  static async open(
    address: QueueAddress,
    ticket: Ticket,
    options: OpenOptions,
  ): Promise<RunQueue> {
    const { rate, onNote } = options;
    const packages = loadPackages();
    const redis = await connect(packages, address);
    try {
      const note = await refuseUnfit(redis);
      if (note !== undefined) onNote(note);
      const reader = await connect(packages, address);
      const connection = queueConnection(address);
      const queue = new packages.Queue(queueName(ticket.spec, ticket.version), {
        connection,
        prefix: PREFIX,
      });
      // The connection we watch says what is wrong.
      queue.on('error', () => {});
      const run = new RunQueue(redis, reader, queue, { ...options, address, ticket });
      await run.#endurance
        .steadily(() => run.#begin(rate, onNote))
        .catch(async (error) => {
          await run.close('to be resumed');
          throw error;
        });
      return run;
    } catch (error) {
      hangUp(redis);
      throw error;
    }
  }

  async #begin(rate: QueueRate | undefined, onNote: (message: string) => void): Promise<void> {
    await this.#lease.take(onNote);
    const isResumed = (await this.#redis.exists(this.#keys.ticket)) === 1;
    // A second try after a lost connection finds what the first one wrote.
    this.#wasKnown ??= isResumed;
    await this.#writeTicket();
    // A run that is resumed was stopped before.
    await this.#redis.del(this.#keys.stop);
    if (rate === undefined) await this.#queue.removeGlobalRateLimit();
    else {
      const { max, perMs } = evenRate(rate);
      await this.#queue.setGlobalRateLimit(max, perMs);
    }
    await this.#keepQueue();
    clearInterval(this.#renewal);
    this.#renewal = setInterval(() => void this.#renew().catch(() => {}), RENEW_MS);
    // Jobs that workers have put off, because no one collected their run, can be taken up.
    const [slots] = await Promise.all([this.#findSlots(), this.#queue.promoteJobs()]);
    this.#slots = slots;
    if (!isResumed) return;
    // What the queue gave up then may work now.
    await this.#takeFailed();
    await this.#whereabouts.find(this.#queue, this.#ticket.run);
    this.#suspects = new Set(await this.#redis.hkeys(this.#keys.starts));
  }

  async #keepQueue(): Promise<void> {
    const pipeline = this.#redis.pipeline();
    for (const part of ['meta', 'id', 'events']) pipeline.expire(this.#queue.toKey(part), QUEUE_S);
    await pipeline.exec();
  }

  /** Redis knew of the run when it was opened. */
  get wasKnown(): boolean {
    return this.#wasKnown === true;
  }

  #writeTicket = (): Promise<unknown> =>
    this.#redis.set(this.#keys.ticket, JSON.stringify(this.#ticket), 'EX', KEEP_S);

  #renew(): Promise<void> {
    this.#renewing ??= this.#renewLease().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /**
   * Writes the ticket again each time, since reading results is all that a run does for a long time, and what is full can still
   * be read.
   */
  async #renewLease(): Promise<void> {
    try {
      const held = await this.#endurance.steadily(async () => {
        const state = await this.#lease.renew();
        if (state !== 'waiting') await this.#writeTicket();
        return state;
      });
      // What is missing is put in again.
      if (held === 'again') {
        this.#wasReset = true;
        this.#resetAt = Date.now();
      }
    } catch (error) {
      if (error instanceof UserError) this.#endurance.fail(error);
      throw error;
    }
  }

  /** Puts jobs in, short ones together. One that is there already stays as it is. */
  async put(jobs: readonly Job[]): Promise<void> {
    const unknown = jobs.filter((job) => !this.#whereabouts.wasFound(job));
    const isSuspect = (job: Job): boolean => this.#suspects.has(nameOf(job));
    const fresh = this.#suspects.size === 0 ? unknown : unknown.filter((job) => !isSuspect(job));
    if (fresh.length < unknown.length) {
      const suspects = unknown.filter(isSuspect).map((job) => [job]);
      await this.#add(suspects, { isAgain: true });
    }
    const slots = this.#isOneByOne ? 0 : this.#slots;
    const bundles = bundleJobs(fresh, slots);
    // Workers begin with the first ones while the others are put in.
    const atOnce = Math.ceil((2 * slots) / (bundles[0]?.length ?? 1));
    await this.#add(bundles.slice(0, atOnce));
    await this.#add(bundles.slice(atOnce));
  }

  async #add(
    bundles: readonly (readonly Job[])[],
    about: { readonly isAgain?: boolean } = {},
  ): Promise<void> {
    for (let at = 0; at < bundles.length; at += CHUNK) {
      this.#endurance.throwFault();
      const chunk = bundles.slice(at, at + CHUNK).map((bundle) => queueEntry(bundle, about));
      for (const [i, { opts }] of chunk.entries())
        this.#whereabouts.note(bundles[at + i]!, opts.jobId);
      await this.#endurance.steadily(() => this.#queue.addBulk(chunk));
    }
  }

  async #findSlots(): Promise<number> {
    const { spec, version } = this.#ticket;
    const ours = (await this.workers()).filter(
      (worker) => worker.spec === spec && worker.version === version,
    );
    return ours.reduce((sum, { slots }) => sum + slots, 0);
  }

  /** What came in since the last call; waits a little if nothing did, and not at all without a time. */
  async take(waitMs: number | undefined): Promise<Delivery[]> {
    this.#endurance.throwFault();
    const { results } = this.#keys;
    const reply = (await this.#endurance.steadily(() =>
      waitMs === undefined
        ? this.#reader.xreadBuffer('COUNT', 200, 'STREAMS', results, this.#last)
        : this.#reader.xreadBuffer('COUNT', 200, 'BLOCK', waitMs, 'STREAMS', results, this.#last),
    )) as [Buffer, [Buffer, Buffer[]][]][] | null;
    const entries = reply?.[0]?.[1] ?? [];
    const deliveries = entries.map(([id, fields]) => deliveryOf(id.toString(), fields));
    this.#last = deliveries.at(-1)?.id ?? this.#last;
    return deliveries;
  }

  /** Forgets what has been written down. */
  async settle(ids: readonly string[]): Promise<void> {
    if (ids.length > 0)
      await this.#endurance.steadily(() => this.#redis.xdel(this.#keys.results, ...ids));
  }

  async #takeFailed(): Promise<QueuedJob[]> {
    const failed = (await this.#queue.getFailed(0, 1000)) as unknown as QueuedJob[];
    const mine = failed.filter(
      (queued) => readBundle(queued.data)?.jobs[0]?.run === this.#ticket.run,
    );
    await Promise.all(mine.map((queued) => queued.remove().catch(() => {})));
    return mine;
  }

  /** Jobs that the queue has given up. */
  async lost(): Promise<LostJob[]> {
    const mine = await this.#endurance.steadily(() => this.#takeFailed());
    return mine.flatMap((queued) =>
      readBundle(queued.data)!.jobs.map((job) => ({
        job,
        why: queued.failedReason ?? 'for an unknown reason',
      })),
    );
  }

  /**
   * Those of the jobs that have had enough workers to themselves, the last of which is gone as well. A worker that takes such
   * a job says the same; where none is left no one else would.
   */
  async deadly(jobs: readonly Job[]): Promise<Job[]> {
    const counts = await this.#endurance.steadily(() => this.#redis.hgetall(this.#keys.starts));
    const suspects = jobs.filter((job) => Number(counts[nameOf(job)] ?? 0) >= MAX_ALONE);
    if (suspects.length === 0) return [];
    const found = await this.#endurance.steadily(async () => {
      const pipeline = this.#redis.pipeline();
      for (const job of suspects) {
        pipeline.exists(
          ...this.#whereabouts.of(job).map((name) => `${this.#queue.toKey(name)}:lock`),
        );
        pipeline.hexists(this.#keys.done, nameOf(job));
      }
      return (await pipeline.exec()) ?? [];
    });
    const isNone = (reply: [Error | null, unknown] | undefined): boolean =>
      reply?.[0] === null && reply[1] === 0;
    return suspects.filter((_, i) => isNone(found[2 * i]) && isNone(found[2 * i + 1]));
  }

  /** How often a job was begun again because a worker that had it died: so many runs came to nothing, at the most. */
  async lostAttempts(): Promise<number> {
    const counts = await this.#endurance.steadily(() => this.#redis.hgetall(this.#keys.starts));
    const alone = Object.entries(counts).filter(([name]) => !name.endsWith(READY));
    return alone.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Those of the jobs that are not in the queue, nor is their result on its way to us. */
  async missing(jobs: readonly Job[]): Promise<Job[]> {
    const missing: Job[] = [];
    for (let at = 0; at < jobs.length; at += CHUNK) {
      const chunk = jobs.slice(at, at + CHUNK);
      const found = await this.#endurance.steadily(async () => {
        const pipeline = this.#redis.pipeline();
        for (const job of chunk)
          pipeline.exists(...this.#whereabouts.of(job).map((name) => this.#queue.toKey(name)));
        return (await pipeline.exec()) ?? [];
      });
      chunk.forEach((job, i) => {
        if (found[i]?.[0] === null && found[i]?.[1] === 0) missing.push(job);
      });
    }
    return missing;
  }

  /** Puts jobs in as if they had never been there. */
  async restore(jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.#endurance.steadily(() => this.#redis.hdel(this.#keys.done, ...jobs.map(nameOf)));
    await this.#add(jobs.map((job) => [job]));
  }

  /** Makes sure that workers know of at least so much. */
  async noteSpent(usd: number): Promise<void> {
    const { spent } = this.#keys;
    await this.#endurance.steadily(async () => {
      if (Number((await this.#redis.get(spent)) ?? 0) < usd)
        await this.#redis.set(spent, String(usd), 'EX', KEEP_S);
    });
  }

  /** Whether workers have found that the run has cost what it may. */
  async hasReachedCost(): Promise<boolean> {
    return (await this.#endurance.steadily(() => this.#redis.get(this.#keys.stop))) === MAX_COST;
  }

  /** Whether Redis has lost what it knew of the run since the last call. */
  wasReset(): boolean {
    const was = this.#wasReset;
    this.#wasReset = false;
    return was;
  }

  /** Nothing more is to be started: jobs that wait are taken out. */
  async stop(why: string, jobs: readonly Job[]): Promise<void> {
    await this.#endurance.steadily(() => this.#redis.set(this.#keys.stop, why, 'EX', KEEP_S));
    const names = [...new Set(jobs.flatMap((job) => this.#whereabouts.of(job)))];
    for (let at = 0; at < names.length; at += CHUNK)
      // One that a worker has stays.
      await Promise.all(
        names.slice(at, at + CHUNK).map((name) => this.#queue.remove(name).catch(() => {})),
      );
  }

  /** Those of the jobs of a stopped run whose result is still to come: a worker has them, or has just sent it. */
  async coming(jobs: readonly Job[]): Promise<Job[]> {
    if (jobs.length === 0) return [];
    // In this order: a result is there before its job is not active any more.
    const active = new Set(
      (await this.#endurance.steadily(() => this.#queue.getJobs(['active']))).map((job) => job?.id),
    );
    const done = await this.#endurance.steadily(() =>
      this.#redis.hmget(this.#keys.done, ...jobs.map(nameOf)),
    );
    return jobs.filter(
      (job, i) => this.#whereabouts.of(job).some((name) => active.has(name)) || done[i] !== null,
    );
  }

  /**
   * Tells workers that the run is over, and waits until they have ended its agents: what they find out then is still to come.
   * Returns how many did not end in time.
   */
  async end(): Promise<number> {
    // A Redis that has just lost its data does not know who is at work either.
    await this.#renew();
    await sleep(Math.max(0, this.#resetAt + SIGNED_MS - Date.now()));
    await this.#endurance.steadily(() => this.#redis.set(this.#keys.stop, OVER, 'EX', KEEP_S));
    const begun = Date.now();
    let beatAt = begun + BEAT_MS;
    let left = 0;
    for (
      let pauseMs = FIRST_POLL_MS;
      Date.now() - begun < END_MS;
      pauseMs = Math.min(POLL_MS, 2 * pauseMs)
    ) {
      const open = new Set(
        await this.#endurance.steadily(() => this.#redis.smembers(this.#keys.open)),
      );
      if (open.size === 0) return 0;
      left = open.size;
      // One that was killed has nothing to say any more.
      if (Date.now() >= beatAt) {
        beatAt = Date.now() + BEAT_MS;
        left = (await this.workers()).filter(({ id }) => open.has(id)).length;
        if (left === 0) return 0;
      }
      await sleep(pauseMs);
    }
    return left;
  }

  workers = (): Promise<SeenWorker[]> => this.#endurance.steadily(() => seenWorkers(this.#redis));

  /** Ends the collection. A run to be resumed keeps its results; others leave nothing behind, but for the word that one is over. */
  async close(how: 'over' | 'given up' | 'to be resumed'): Promise<void> {
    clearInterval(this.#renewal);
    this.#endurance.close();
    // Tidying up: what is left if it fails expires by itself.
    if (!this.#endurance.hasFault && this.#redis.status === 'ready')
      await Promise.race([
        this.#tidy(how).catch(() => {}),
        sleep(TIDY_MS, undefined, { ref: false }),
      ]);
    hangUp(this.#reader);
    hangUp(this.#redis);
    await Promise.race([
      this.#queue.disconnect().catch(() => {}),
      sleep(1000, undefined, { ref: false }),
    ]);
  }

  async #tidy(how: Parameters<RunQueue['close']>[0]): Promise<void> {
    // It would write what is taken away here.
    await this.#renewing?.catch(() => {});
    if (how !== 'to be resumed') {
      const { over, ...keys } = this.#keys;
      if (how === 'over') await this.#redis.set(over, '', 'EX', OVER_S);
      await this.#redis.unlink(...Object.values(keys));
      await this.#queue.removeGlobalRateLimit();
      await this.#keepQueue();
    }
    await this.#lease.drop();
  }
}
