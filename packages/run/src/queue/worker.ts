import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '@agentci/lib/problems';
import type { Job as QueuedJob, Worker } from 'bullmq';
import type { QueueAddress } from './address.ts';
import { type Client, connectWorker, hangUp, loadPackages, QueueConnection } from './connection.ts';
import { type Job, jobName, type QueuedRun, readJob, readQueuedRun } from './job.ts';
import { DEADLY, OVER, PREFIX, queueName, runKeys, WORKERS_KEY } from './keys.ts';
import { encodeBody } from './message.ts';
import { HEARTBEAT_MS, sendHeartbeat, type WorkerInfo } from './worker-list.ts';
import { WorkerSlots } from './worker-slots.ts';

export interface JobResult {
  readonly body: unknown;
  readonly costUsd: number;
}

/** The agent of one run in one worker. */
export interface RunAgent {
  readonly run: (job: Job) => Promise<JobResult>;
  /** Prepares the slow parts of the start. */
  readonly warm: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface WorkerOptions {
  readonly address: QueueAddress;
  /** Hash of the spec. */
  readonly spec: string;
  readonly version: string;
  readonly commit?: string | undefined;
  readonly slots: number;
  /** A worker that is silent for this long has lost its jobs. */
  readonly lockMs: number;
  /** Ends after this long without work. */
  readonly idleMs?: number | undefined;
  /** Opens the agent of a run. Notes go to the run's collector. */
  readonly openAgent: (run: QueuedRun, sendNote: (body: unknown) => void) => Promise<RunAgent>;
  /** The result of a job that produced none. */
  readonly failure: (kind: 'worker' | 'worker_lost', message: string) => JobResult;
  readonly onNote: (message: string) => void;
  readonly onReady: () => void;
  /** Aborted to stop taking jobs. */
  readonly signal: AbortSignal;
}

export interface WorkerSummary {
  readonly done: number;
  readonly duplicates: number;
}

/** A run with its agent open in this worker. */
interface OpenRun {
  readonly about: QueuedRun;
  /** Notes not yet delivered to the collector. */
  readonly notes: Promise<unknown>[];
  /** Opened for the first job. */
  agent?: Promise<RunAgent>;
  jobs: number;
}

const STALLED_CHECK_MS = 5000;
const RETRY_MS = 1000;
/** An ending worker waits this long for a Redis that is gone. */
const GONE_MS = 5000;
/** Deferral of a job whose run has no collector. */
const DEFER_MS = 10_000;
/** A run that Redis lost is known again within this time, if it still has a collector. */
const FORGOTTEN_MS = 7500;
const POLL_MS = 100;

/** Takes jobs from the queue until the signal, and finishes those it has started. */
export async function runWorker(options: WorkerOptions): Promise<WorkerSummary> {
  const ending = new AbortController();
  const connection = await QueueConnection.open(options.address, {
    onNote: options.onNote,
    signal: ending.signal,
    patienceMs: Number.POSITIVE_INFINITY,
    abortedPatienceMs: GONE_MS,
  });
  return new QueueWorker(options, connection).serve(ending);
}

class QueueWorker {
  readonly #options: WorkerOptions;
  readonly #connection: QueueConnection;
  readonly #packages = loadPackages();
  /** The connection for jobs, shared with BullMQ. */
  readonly #jobs: Client;
  readonly #info: WorkerInfo;
  readonly #slots: WorkerSlots;
  readonly #runs = new Map<string, OpenRun>();
  readonly #summary = { done: 0, duplicates: 0 };
  readonly #deliveries = new Set<Promise<void>>();
  #fault: Error | undefined;
  /** Number of running agents. */
  #running = 0;
  #lastWorkAt = Date.now();

  constructor(options: WorkerOptions, connection: QueueConnection) {
    const { slots, spec, version, commit } = options;
    this.#options = options;
    this.#connection = connection;
    this.#jobs = connectWorker(options.address);
    this.#slots = new WorkerSlots(slots);
    const self = { id: randomUUID(), host: hostname(), pid: process.pid };
    this.#info = { ...self, slots, spec, version, commit };
  }

  async serve(ending: AbortController): Promise<WorkerSummary> {
    const { redis } = this.#connection;
    const worker = this.#startBullmq();
    const beat = (): Promise<void> => sendHeartbeat(redis, this.#info);
    const timers = [
      setInterval(() => void beat().catch(() => {}), HEARTBEAT_MS),
      setInterval(() => void this.#closeRuns('over').catch(() => {}), POLL_MS),
    ];
    try {
      await beat();
      this.#options.onReady();
      await this.#untilEnd();
      ending.abort();
      const isFinished = new AbortController();
      const finish = this.#finish(worker).finally(() => isFinished.abort());
      await Promise.race([finish, this.#untilLost(isFinished.signal)]).catch(() => {
        throw new UserError(
          'QUEUE_LOST',
          'Redis is gone or cannot work, so the results of what was in progress could not be sent',
          { hint: 'Other workers will run those queries again.' },
        );
      });
    } finally {
      for (const timer of timers) clearInterval(timer);
      await Promise.race([worker.close(true).catch(() => {}), sleep(RETRY_MS)]);
      hangUp(this.#jobs);
      this.#connection.close();
    }
    return this.#summary;
  }

  #startBullmq(): Worker {
    const { spec, version, slots, lockMs, onNote } = this.#options;
    const worker = new this.#packages.Worker(
      queueName(spec, version),
      (job, token) => this.#process(job, token),
      {
        connection: this.#jobs,
        prefix: PREFIX,
        concurrency: slots,
        lockDuration: lockMs,
        stalledInterval: Math.min(STALLED_CHECK_MS, lockMs),
        // The script `start` limits how often a job is started.
        maxStalledCount: 1_000_000,
        drainDelay: 1,
        runRetryDelay: RETRY_MS,
      },
    );
    let last = '';
    const report = ({ message }: Error): void => {
      const note = /Missing (?:key|lock)|Lock mismatch|renew lock/i.test(message)
        ? 'a query that was run here was given to another worker meanwhile, or Redis has lost its data'
        : `the queue cannot be used: ${message}`;
      if (note !== last) onNote(note);
      last = note;
    };
    worker.on('error', report);
    worker.on('failed', (_, error) => report(error));
    return worker;
  }

  /** Waits for the signal, or until there was no work for long enough. */
  async #untilEnd(): Promise<void> {
    const { signal, idleMs = Number.POSITIVE_INFINITY } = this.#options;
    while (!signal.aborted && (this.#running > 0 || Date.now() - this.#lastWorkAt < idleMs))
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }

  async #finish(worker: Worker): Promise<void> {
    await worker.close();
    await Promise.all(this.#deliveries);
    if (this.#fault !== undefined) throw this.#fault;
    await this.#closeRuns('all');
    const { redis } = this.#connection;
    await this.#connection.call(() => redis.zrem(WORKERS_KEY, JSON.stringify(this.#info)));
  }

  /** Throws when Redis is gone or refuses writes for too long: results cannot be sent. */
  async #untilLost(isFinished: AbortSignal): Promise<void> {
    const { redis } = this.#connection;
    while (!isFinished.aborted) {
      await this.#connection.call(() => redis.set(`${PREFIX}:probe`, '', 'PX', 1));
      await sleep(POLL_MS, undefined, { signal: isFinished }).catch(() => {});
    }
  }

  async #process(queued: QueuedJob, token: string | undefined): Promise<void> {
    const job = readJob(queued.data);
    if (job === undefined) throw new UserError('QUEUE_JOB', 'the job is not one of AgentCI');
    let state = await this.#slots.use('beside others', () => this.#try(job, ''));
    // It may have killed its worker. It runs alone, so that it takes no other jobs with it and is
    // not blamed for their crash.
    if (state === 'repeat') state = await this.#slots.use('alone', () => this.#try(job, 'alone'));
    if (state !== 'waiting') return;
    await queued.moveToDelayed(Date.now() + DEFER_MS, token);
    throw new this.#packages.DelayedError();
  }

  /** Runs a job and sends its result, if it may be started. */
  async #try(job: Job, alone: '' | 'alone'): Promise<string> {
    // A crash while the agent starts is not the fault of the job.
    const known = alone === '' ? undefined : this.#runs.get(job.run);
    if (known !== undefined)
      await this.#agentOf(known)
        .then((agent) => agent.warm())
        .catch(() => {});
    const args = [...Object.values(runKeys(job.run)), jobName(job), this.#info.id, alone];
    const [state, text] = await this.#connection.call(() => this.#jobs.start(...args));
    if (text === undefined) return state;
    const run = this.#openRun(job.run, text);
    if (state === 'repeat') return state;
    run.jobs++;
    const { failure } = this.#options;
    const result =
      state === 'deadly' ? encoded(failure('worker_lost', DEADLY)) : await this.#run(job, run);
    const delivery = this.#deliver(job, run, result)
      .catch((error: Error) => {
        this.#fault = error;
        this.#options.onNote(`a result could not be sent: ${error.message}`);
      })
      .finally(() => {
        run.jobs--;
        this.#deliveries.delete(delivery);
      });
    this.#deliveries.add(delivery);
    // Otherwise the result precedes the end of the job on the same connection, and the slot need
    // not wait.
    if (alone !== '') await delivery;
    return state;
  }

  async #run(job: Job, run: OpenRun): Promise<Encoded> {
    this.#running++;
    try {
      return encoded(await (await this.#agentOf(run)).run(job));
    } catch (error) {
      const text = `no worker could run it: ${(error as Error).message}`;
      return encoded(this.#options.failure('worker', text));
    } finally {
      this.#running--;
      this.#lastWorkAt = Date.now();
    }
  }

  async #deliver(job: Job, { about: { settings } }: OpenRun, result: Encoded): Promise<void> {
    const keys = Object.values(runKeys(job.run));
    const limit = settings.maxCostUsd ?? '';
    const args = [...keys, jobName(job), randomUUID(), result.cost, limit, result.data];
    for (const until = Date.now() + FORGOTTEN_MS; ; await sleep(POLL_MS)) {
      const receipt = await this.#connection.call(() => this.#jobs.deliver(...args));
      if (receipt === 'first') this.#summary.done++;
      else if (receipt === 'duplicate') this.#summary.duplicates++;
      // The agent's work was paid for, so wait for the collector to restore the run in a Redis that
      // lost its data.
      else if (Date.now() < until) continue;
      return;
    }
  }

  #openRun(id: string, text: string): OpenRun {
    const known = this.#runs.get(id);
    if (known !== undefined) return known;
    const about = readQueuedRun(text);
    if (about?.spec !== this.#options.spec || about.version !== this.#options.version)
      throw new UserError('WORKER_MISMATCH', `run ${id} is of another spec or version`);
    const run: OpenRun = { about, notes: [], jobs: 0 };
    this.#runs.set(id, run);
    return run;
  }

  #agentOf(run: OpenRun): Promise<RunAgent> {
    const keys = Object.values(runKeys(run.about.run));
    run.agent ??= this.#options.openAgent(run.about, (body) => {
      const args = [...keys, encodeBody(body)];
      const note = this.#connection.call(() => this.#connection.redis.notify(...args));
      run.notes.push(note.catch(() => {}));
    });
    return run.agent;
  }

  /** Closes the agents of finished runs, or of all runs. */
  async #closeRuns(which: 'over' | 'all'): Promise<void> {
    const { redis } = this.#connection;
    for (const [id, run] of this.#runs) {
      const { about, stop, open } = runKeys(id);
      if (which === 'over') {
        if (run.jobs > 0) continue;
        const [text, why] = await redis.mget(about, stop);
        if (run.jobs > 0 || (text !== null && why !== OVER)) continue;
      }
      if (!this.#runs.delete(id)) continue;
      // The jobs of an agent that could not be opened have failed already.
      await run.agent?.then((agent) => agent.close()).catch(() => {});
      await Promise.all(run.notes);
      await this.#connection.call(() => redis.srem(open, this.#info.id));
    }
  }
}

interface Encoded {
  readonly data: Buffer;
  readonly cost: string;
}

const encoded = ({ body, costUsd }: JobResult): Encoded => ({
  data: encodeBody(body),
  cost: Number.isFinite(costUsd) && costUsd > 0 ? String(costUsd) : '0',
});
