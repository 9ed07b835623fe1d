import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '@agentci/lib/problems';
import type { Queue } from 'bullmq';
import type { QueueAddress } from './address.ts';
import { loadPackages, QueueConnection } from './connection.ts';
import { type Job, jobName, type QueuedRun } from './job.ts';
import {
  KEEP_S,
  MAX_COST,
  MAX_STARTS,
  OVER,
  PREFIX,
  queueName,
  type RunKeys,
  runKeys,
} from './keys.ts';
import { encodeBody, type Message, readMessage } from './message.ts';
import { listWorkers, type WorkerInfo } from './worker-list.ts';

/** Maximum number of query starts per time, over all workers. */
export interface QueueRate {
  readonly max: number;
  readonly perMs: number;
}

interface OpenOptions {
  readonly rate?: QueueRate | undefined;
  readonly onNote: (message: string) => void;
  /** Time to wait for a Redis that is gone. Default: one minute. */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const PATIENCE_MS = 60_000;
const LEASE_MS = 5000;
const RENEW_MS = 1000;
const LEASE_POLL_MS = 250;
/** Expiry of BullMQ's data of a queue, because every change of a spec makes another queue. */
const QUEUE_S = 30 * 24 * 3600;
/** A collector that was suspended longer than this would start its finished run again. */
const OVER_S = 24 * 3600;
const CHUNK = 100;
const READ_POLL_MS = 10;
const READ_COUNT = 200;
/** Maximum time for workers to close their agents. */
const CLOSE_AGENTS_MS = 15_000;
const TIDY_MS = 5000;
/** Timers are not more precise. */
const SHORTEST_RATE_MS = 50;

/**
 * The queue of one run, for its collector: adds jobs, reads results, and holds the lease that makes
 * it the only collector.
 */
export class RunQueue {
  /** Whether Redis knew the run when it was opened. */
  wasKnown = false;
  readonly #connection: QueueConnection;
  readonly #queue: Queue;
  readonly #run: QueuedRun;
  readonly #keys: RunKeys;
  readonly #token = randomUUID();
  #renewal: NodeJS.Timeout | undefined;
  #hasForgotten = false;
  #fault: unknown;
  #lastId = '0';

  private constructor(connection: QueueConnection, run: QueuedRun) {
    this.#connection = connection;
    this.#run = run;
    this.#keys = runKeys(run.run);
    this.#queue = new (loadPackages().Queue)(queueName(run.spec, run.version), {
      connection: connection.redis,
      prefix: PREFIX,
    });
    // The calls report errors of the connection.
    this.#queue.on('error', () => {});
  }

  static async open(
    address: QueueAddress,
    run: QueuedRun,
    options: OpenOptions,
  ): Promise<RunQueue> {
    const { onNote, signal, patienceMs = PATIENCE_MS } = options;
    const patience = { onNote, signal, patienceMs, abortedPatienceMs: 0 };
    const queue = new RunQueue(await QueueConnection.open(address, patience), run);
    try {
      await queue.#takeLease(onNote);
      await queue.#call(() => queue.#setUp(options.rate));
      return queue;
    } catch (error) {
      await queue.close('to be resumed');
      throw error;
    }
  }

  /** Waits for the lease of a killed collector to expire. A live collector renews it. */
  async #takeLease(onNote: (message: string) => void): Promise<void> {
    const { redis } = this.#connection;
    let leftMs: number | undefined;
    let state = await this.#hold();
    for (; state === 0; state = await this.#hold()) {
      const nowMs = await this.#call(() => redis.pttl(this.#keys.lease));
      if (leftMs === undefined)
        onNote(
          `another process collects run ${this.#run.run}, or was killed a moment ago; waiting`,
        );
      else if (nowMs > leftMs) throw this.#taken('collects the results');
      leftMs = nowMs;
      await sleep(LEASE_POLL_MS);
    }
    this.wasKnown = state === 2;
    this.#renewal = setInterval(() => void this.#renew(), RENEW_MS);
  }

  async #hold(): Promise<unknown> {
    const args = [...Object.values(this.#keys), this.#token, LEASE_MS, JSON.stringify(this.#run)];
    const state = await this.#call(() => this.#connection.redis.hold(...args));
    if (state === 3) throw this.#taken('has collected all results');
    return state;
  }

  async #renew(): Promise<void> {
    try {
      const state = await this.#hold();
      if (state === 0) throw this.#taken('collects the results');
      if (state === 1) this.#hasForgotten = true;
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #taken(what: 'collects the results' | 'has collected all results'): UserError {
    const hint =
      what === 'collects the results'
        ? 'One is enough. If it hangs, end it; --resume continues its run.'
        : 'Its report has them.';
    const message = `another process ${what} of run ${this.#run.run}`;
    return new UserError('QUEUE_RUN_TAKEN', message, { hint });
  }

  async #setUp(rate: QueueRate | undefined): Promise<void> {
    await this.#connection.redis.del(this.#keys.stop);
    if (rate === undefined) await this.#queue.removeGlobalRateLimit();
    else await this.#queue.setGlobalRateLimit(...evenRate(rate));
    await this.#expireQueue();
    // Jobs that workers deferred because the run had no collector.
    await this.#queue.promoteJobs();
  }

  async #expireQueue(): Promise<void> {
    for (const part of ['meta', 'id', 'events'])
      await this.#connection.redis.expire(this.#queue.toKey(part), QUEUE_S);
  }

  #call = <T>(action: () => Promise<T>): Promise<T> => this.#connection.call(action);

  /** Adds jobs to the queue. Jobs that are already in it stay unchanged. */
  async put(jobs: readonly Job[]): Promise<void> {
    for (const chunk of chunks(jobs)) {
      const entries = chunk.map((job) => ({
        name: 'run',
        data: job,
        opts: { jobId: jobName(job), removeOnComplete: true, removeOnFail: true },
      }));
      await this.#call(() => this.#queue.addBulk(entries));
    }
  }

  /** Reads new results from workers. Waits if there are none. */
  async read(waitMs: number): Promise<Message[]> {
    const { redis } = this.#connection;
    for (const until = Date.now() + waitMs; ; await sleep(READ_POLL_MS)) {
      if (this.#fault !== undefined) throw this.#fault;
      const reply = (await this.#call(() =>
        redis.xreadBuffer('COUNT', READ_COUNT, 'STREAMS', this.#keys.results, this.#lastId),
      )) as [Buffer, [Buffer, Buffer[]][]][] | null;
      const messages = (reply?.[0]?.[1] ?? []).map(([id, fields]) =>
        readMessage(id.toString(), fields),
      );
      this.#lastId = messages.at(-1)?.id ?? this.#lastId;
      if (messages.length > 0 || Date.now() >= until) return messages;
    }
  }

  /** Removes messages that are on disk. */
  async forget(ids: readonly string[]): Promise<void> {
    if (ids.length > 0)
      await this.#call(() => this.#connection.redis.xdel(this.#keys.results, ...ids));
  }

  /**
   * Fails jobs that killed their workers. A worker that takes such a job does the same, if one is
   * left.
   */
  async failDeadly(open: ReadonlyMap<string, unknown>, failure: unknown): Promise<void> {
    const { redis } = this.#connection;
    const starts = await this.#call(() => redis.hgetall(this.#keys.starts));
    for (const [name, count] of Object.entries(starts)) {
      if (!open.has(name) || Number(count) < MAX_STARTS) continue;
      const isTaken = await this.#call(() => redis.exists(`${this.#queue.toKey(name)}:lock`));
      const isDone = await this.#call(() => redis.hexists(this.#keys.done, name));
      const id = `${this.#token} ${name}`;
      const args = [...Object.values(this.#keys), name, id, '0', '', encodeBody(failure)];
      if (isTaken + isDone === 0) await this.#call(() => redis.deliver(...args));
    }
  }

  /** Number of restarts of a job after its worker died. */
  async repeats(): Promise<number> {
    const text = await this.#call(() => this.#connection.redis.hget(this.#keys.starts, 'repeats'));
    return Number(text ?? 0);
  }

  /** Number of jobs in the queue, including jobs of other runs. */
  size = (): Promise<number> =>
    this.#call(() => this.#queue.getJobCountByTypes('waiting', 'active', 'delayed'));

  /** Makes sure that workers know at least this cost. */
  async noteSpent(usd: number): Promise<void> {
    const { redis } = this.#connection;
    await this.#call(async () => {
      if (Number((await redis.get(this.#keys.spent)) ?? 0) < usd)
        await redis.set(this.#keys.spent, String(usd), 'EX', KEEP_S);
    });
  }

  /** Whether the run has reached --max-cost, by the sum the workers have reported. */
  async hasReachedCost(): Promise<boolean> {
    const why = await this.#call(() => this.#connection.redis.get(this.#keys.stop));
    return why === MAX_COST;
  }

  /** Whether Redis has lost its data since the last call. */
  hasForgotten(): boolean {
    const was = this.#hasForgotten;
    this.#hasForgotten = false;
    return was;
  }

  /** Stops starting jobs, and removes those that no worker has. */
  async stop(why: string, jobs: readonly Job[]): Promise<void> {
    await this.#call(() => this.#connection.redis.set(this.#keys.stop, why, 'EX', KEEP_S));
    // A job that a worker has cannot be removed.
    for (const chunk of chunks(jobs))
      await Promise.all(chunk.map((job) => this.#queue.remove(jobName(job)).catch(() => {})));
  }

  /**
   * Whether workers have any of the jobs. A result is readable before its job stops being active.
   */
  async hasActive(jobs: readonly Job[]): Promise<boolean> {
    const active = await this.#call(() => this.#queue.getJobs(['active']));
    const ids = new Set(active.map((job) => job?.id));
    return jobs.some((job) => ids.has(jobName(job)));
  }

  /**
   * Tells workers that the run is over, and waits until they have closed its agent. Returns the
   * number of workers that did not in time.
   */
  async end(): Promise<number> {
    const { redis } = this.#connection;
    await this.#call(() => redis.set(this.#keys.stop, OVER, 'EX', KEEP_S));
    for (const until = Date.now() + CLOSE_AGENTS_MS; ; await sleep(READ_POLL_MS)) {
      const open = new Set(await this.#call(() => redis.smembers(this.#keys.open)));
      if (open.size === 0) return 0;
      const alive = (await this.workers()).filter(({ id }) => open.has(id)).length;
      if (alive === 0 || Date.now() > until) return alive;
    }
  }

  workers = (): Promise<WorkerInfo[]> => this.#call(() => listWorkers(this.#connection.redis));

  /** A run to be resumed keeps its data. Otherwise only the fact that it is over stays. */
  async close(how: 'over' | 'given up' | 'to be resumed'): Promise<void> {
    clearInterval(this.#renewal);
    // Data that remains expires.
    if (this.#fault === undefined && this.#connection.redis.status === 'ready')
      await Promise.race([
        this.#tidy(how).catch(() => {}),
        sleep(TIDY_MS, undefined, { ref: false }),
      ]);
    this.#connection.close();
  }

  async #tidy(how: 'over' | 'given up' | 'to be resumed'): Promise<void> {
    const { redis } = this.#connection;
    const { over, lease, ...data } = this.#keys;
    if (how === 'over') await redis.set(over, '', 'EX', OVER_S);
    if (how !== 'to be resumed') {
      await redis.unlink(...Object.values(data));
      await this.#queue.removeGlobalRateLimit();
      await this.#expireQueue();
    }
    if ((await redis.get(lease)) === this.#token) await redis.del(lease);
  }
}

function* chunks(jobs: readonly Job[]): Generator<readonly Job[]> {
  for (let at = 0; at < jobs.length; at += CHUNK) yield jobs.slice(at, at + CHUNK);
}

/**
 * The same rate in the shortest possible windows: two adjacent long windows could start twice as
 * many at once.
 */
function evenRate({ max, perMs }: QueueRate): [max: number, perMs: number] {
  const eachMs = Math.ceil(perMs / max);
  return eachMs >= SHORTEST_RATE_MS
    ? [1, eachMs]
    : [Math.max(1, Math.floor((max * SHORTEST_RATE_MS) / perMs)), SHORTEST_RATE_MS];
}
