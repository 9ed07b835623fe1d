import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { UserError } from '../kit/user-error.ts';
import { addressText, type QueueAddress } from './address.ts';
import {
  type Client,
  connect,
  loadPackages,
  type QueuedJob,
  queueConnection,
  refuseEviction,
  steadily,
} from './client.ts';
import { type Job, nameOf, readJob, type Ticket } from './job.ts';
import { MAX_COST, OVER, PREFIX, queueName, type RunKeys, runKeys } from './names.ts';
import { unpackParcel } from './parcel.ts';
import { BEAT_MS, type SeenWorker, seenWorkers } from './worker-list.ts';

/** Something that came from a worker. */
export interface Delivery {
  /** To be given to `settle` once it is written down. */
  readonly id: string;
  readonly kind: 'result' | 'duplicate' | 'word';
  readonly job: string;
  /** What the agent cost, as far as it is known. */
  readonly costUsd: number;
  /** Undefined where it cannot be read. */
  readonly body: unknown;
}

/** A job that came to no result. */
export interface LostJob {
  readonly job: Job;
  readonly why: string;
}

export interface QueueRate {
  readonly max: number;
  readonly perMs: number;
}

const LEASE_MS = 10_000;
const RENEW_MS = 2_500;
/** How long what is left of a run that was not finished stays. */
const KEEP_S = 7 * 24 * 3600;
/** A Redis that is restarted is back within this. */
const RECONNECT_MS = 60_000;
const CHUNK = 500;
/** How long workers may take to end their agents. */
const END_MS = 15_000;
const POLL_MS = 50;

/** One run as its collector sees it: jobs go in, results come out, and no one else may do the same. */
export class RunQueue {
  readonly #redis: Client;
  /** A connection of its own: reading blocks it. */
  readonly #reader: Client;
  readonly #queue: Queue;
  readonly #ticket: Ticket;
  readonly #keys: RunKeys;
  readonly #token = randomUUID();
  readonly #address: QueueAddress;
  #renewal: NodeJS.Timeout | undefined;
  #outage: NodeJS.Timeout | undefined;
  #last = '0';
  #fault: UserError | undefined;
  #wasReset = false;

  private constructor(redis: Client, reader: Client, queue: Queue, ticket: Ticket, address: QueueAddress) {
    this.#redis = redis;
    this.#reader = reader;
    this.#queue = queue;
    this.#ticket = ticket;
    this.#keys = runKeys(ticket.run);
    this.#address = address;
  }

  static async open(
    address: QueueAddress,
    ticket: Ticket,
    { rate, onNote }: { readonly rate?: QueueRate | undefined; readonly onNote: (message: string) => void },
  ): Promise<RunQueue> {
    const packages = await loadPackages();
    const redis = await connect(packages, address);
    try {
      const note = await refuseEviction(redis);
      if (note !== undefined) onNote(note);
      const reader = await connect(packages, address);
      const connection = queueConnection(address);
      const queue = new packages.Queue(queueName(ticket.spec, ticket.version), { connection, prefix: PREFIX });
      // The connection we watch says what is wrong.
      queue.on('error', () => {});
      const run = new RunQueue(redis, reader, queue, ticket, address);
      await run.#begin(rate, onNote).catch(async (error) => {
        await run.close(false);
        throw error;
      });
      return run;
    } catch (error) {
      redis.disconnect();
      throw error;
    }
  }

  async #begin(rate: QueueRate | undefined, onNote: (message: string) => void): Promise<void> {
    await this.#takeLease(onNote);
    await this.#writeTicket();
    // A run that is resumed was stopped before.
    await this.#redis.del(this.#keys.stop);
    if (rate === undefined) await this.#queue.removeGlobalRateLimit();
    else await this.#queue.setGlobalRateLimit(rate.max, rate.perMs);
    this.#renewal = setInterval(() => void this.#renew().catch(() => {}), RENEW_MS);
    this.#redis.on('close', () => {
      this.#outage ??= setTimeout(() => this.#fail(lost(this.#address)), RECONNECT_MS);
    });
    this.#redis.on('ready', () => {
      clearTimeout(this.#outage);
      this.#outage = undefined;
      void this.#renew().catch(() => {});
    });
  }

  /** A collector that was killed holds its run for a few seconds more; one that is alive holds on to it. */
  async #takeLease(onNote: (message: string) => void): Promise<void> {
    const { lease } = this.#keys;
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      if ((await this.#redis.holdLease(lease, this.#token, LEASE_MS)) !== 0) return;
      const left = await this.#redis.pttl(lease);
      if (left > before) throw taken(this.#ticket.run);
      if (before === Number.POSITIVE_INFINITY)
        onNote(`another process collects run ${this.#ticket.run}, or was killed a moment ago; waiting`);
      before = left;
      await sleep(500);
    }
  }

  #writeTicket = (): Promise<unknown> => this.#redis.set(this.#keys.ticket, JSON.stringify(this.#ticket), 'EX', KEEP_S);

  async #renew(): Promise<void> {
    const held = await this.#redis.holdLease(this.#keys.lease, this.#token, LEASE_MS);
    if (held === 0) this.#fail(taken(this.#ticket.run));
    if (held !== 2) return;
    // Redis lost what it knew, or forgot us while we slept: what is missing is put in again.
    await this.#writeTicket();
    this.#wasReset = true;
  }

  #fail(error: UserError): void {
    this.#fault ??= error;
    this.#reader.disconnect();
  }

  /** Puts jobs in. One that is there already stays as it is. */
  async put(jobs: readonly Job[]): Promise<void> {
    for (let at = 0; at < jobs.length; at += CHUNK) {
      this.#throwFault();
      const chunk = jobs.slice(at, at + CHUNK).map((job) => ({
        name: 'run',
        data: job,
        opts: { jobId: nameOf(job), removeOnComplete: true, removeOnFail: false, attempts: 1 },
      }));
      await this.#steadily(() => this.#queue.addBulk(chunk));
    }
  }

  /** What came in since the last call; waits a little if nothing did. */
  async take(waitMs: number): Promise<Delivery[]> {
    this.#throwFault();
    const { results } = this.#keys;
    const reply = (await this.#steadily(() =>
      this.#reader.xreadBuffer('COUNT', 200, 'BLOCK', waitMs, 'STREAMS', results, this.#last),
    )) as [Buffer, [Buffer, Buffer[]][]][] | null;
    const entries = reply?.[0]?.[1] ?? [];
    const deliveries = entries.map(([id, fields]) => deliveryOf(id.toString(), fields));
    this.#last = deliveries.at(-1)?.id ?? this.#last;
    return deliveries;
  }

  /** Forgets what has been written down. */
  async settle(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#steadily(() => this.#redis.xdel(this.#keys.results, ...ids));
  }

  /** Jobs that the queue has given up. */
  async lost(): Promise<LostJob[]> {
    const failed = (await this.#steadily(() => this.#queue.getFailed(0, 1000))) as unknown as QueuedJob[];
    const mine = failed.flatMap((queued) => {
      const job = readJob(queued.data);
      return job?.run === this.#ticket.run
        ? [{ job, why: queued.failedReason ?? 'for an unknown reason', queued }]
        : [];
    });
    await Promise.all(mine.map(({ queued }) => queued.remove().catch(() => {})));
    return mine;
  }

  /** Those of the jobs that are not in the queue, nor is their result on its way to us. */
  async missing(jobs: readonly Job[]): Promise<Job[]> {
    const missing: Job[] = [];
    for (let at = 0; at < jobs.length; at += CHUNK) {
      const chunk = jobs.slice(at, at + CHUNK);
      const found = await this.#steadily(async () => {
        const pipeline = this.#redis.pipeline();
        for (const job of chunk) pipeline.exists(this.#queue.toKey(nameOf(job)));
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
    await this.#steadily(() => this.#redis.hdel(this.#keys.done, ...jobs.map(nameOf)));
    await this.put(jobs);
  }

  /** Whether workers have found that the run has cost what it may. */
  async hasReachedCost(): Promise<boolean> {
    return (await this.#steadily(() => this.#redis.get(this.#keys.stop))) === MAX_COST;
  }

  /** Whether Redis has lost what it knew of the run since the last call. */
  wasReset(): boolean {
    const was = this.#wasReset;
    this.#wasReset = false;
    return was;
  }

  /** Nothing more is to be started: jobs that wait are taken out. */
  async stop(why: string, jobs: readonly Job[]): Promise<void> {
    await this.#steadily(() => this.#redis.set(this.#keys.stop, why, 'EX', KEEP_S));
    for (let at = 0; at < jobs.length; at += CHUNK)
      // One that a worker has stays.
      await Promise.all(jobs.slice(at, at + CHUNK).map((job) => this.#queue.remove(nameOf(job)).catch(() => {})));
  }

  /** Those of the jobs of a stopped run whose result is still to come: a worker has them, or has just sent it. */
  async coming(jobs: readonly Job[]): Promise<Job[]> {
    if (jobs.length === 0) return [];
    // In this order: a result is there before its job is not active any more.
    const active = new Set((await this.#steadily(() => this.#queue.getJobs(['active']))).map((job) => job?.id));
    const done = await this.#steadily(() => this.#redis.hmget(this.#keys.done, ...jobs.map(nameOf)));
    return jobs.filter((job, i) => active.has(nameOf(job)) || done[i] !== null);
  }

  /** Tells workers that the run is over, and waits until they have ended its agents: what they find out then is still to come. */
  async end(): Promise<void> {
    await this.#steadily(() => this.#redis.set(this.#keys.stop, OVER, 'EX', KEEP_S));
    for (let waited = 0; waited < END_MS; waited += POLL_MS) {
      const open = new Set(await this.#steadily(() => this.#redis.smembers(this.#keys.open)));
      if (open.size === 0) return;
      // One that was killed has nothing to say any more.
      if (waited % BEAT_MS === 0 && waited > 0) {
        const alive = await this.workers();
        if (!alive.some(({ id }) => open.has(id))) return;
      }
      await sleep(POLL_MS);
    }
  }

  workers = (): Promise<SeenWorker[]> => this.#steadily(() => seenWorkers(this.#redis));

  /** Ends the collection. A run that is over leaves nothing behind; one to be resumed keeps its results. */
  async close(isOver: boolean): Promise<void> {
    clearInterval(this.#renewal);
    clearTimeout(this.#outage);
    this.#outage = undefined;
    this.#redis.removeAllListeners('close');
    // Tidying up: what is left if it fails expires by itself.
    if (this.#fault === undefined && this.#redis.status === 'ready') await this.#tidy(isOver).catch(() => {});
    this.#reader.disconnect();
    this.#redis.disconnect();
    await Promise.race([this.#queue.close(), sleep(1000, undefined, { ref: false })]);
  }

  async #tidy(isOver: boolean): Promise<void> {
    if (isOver) {
      await this.#redis.unlink(...Object.values(this.#keys));
      await this.#queue.removeGlobalRateLimit();
    }
    await this.#redis.dropLease(this.#keys.lease, this.#token);
  }

  /** A Redis that is restarted in between costs time only, as long as it comes back. */
  async #steadily<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await steadily(action, () => this.#fault !== undefined);
    } catch (error) {
      this.#throwFault();
      throw error;
    }
  }

  #throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }
}

function deliveryOf(id: string, fields: readonly Buffer[]): Delivery {
  const of = (name: string): Buffer | undefined => {
    for (let i = 0; i + 1 < fields.length; i += 2) if (fields[i]!.toString() === name) return fields[i + 1];
    return undefined;
  };
  const kind = of('kind')?.toString();
  const cost = Number(of('cost')?.toString());
  return {
    id,
    kind: kind === 'result' || kind === 'duplicate' ? kind : 'word',
    job: of('job')?.toString() ?? '',
    costUsd: Number.isFinite(cost) && cost > 0 ? cost : 0,
    body: unpackParcel(of('data') ?? Buffer.alloc(0)),
  };
}

const taken = (run: string): UserError =>
  new UserError('QUEUE_RUN_TAKEN', `another process collects the results of run ${run}`, {
    hint: 'One is enough. If it hangs, end it; --resume continues its run.',
  });

const lost = (address: QueueAddress): UserError =>
  new UserError('QUEUE_LOST', `the Redis at ${addressText(address)} went away and did not come back within a minute`, {
    hint: 'What was finished is stored: start Redis again, and continue with --resume.',
  });
