import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import { UserError } from '../kit/user-error.ts';
import {
  type Client,
  connect,
  isRefusal,
  loadPackages,
  queueConnection,
  refuseUnfit,
} from './client.ts';
import { PREFIX, queueName } from './names.ts';
import { Office } from './office.ts';
import { hangUp, Pulse } from './pulse.ts';
import type { ServeOptions } from './serve-options.ts';
import { setHands } from './set-hands.ts';
import { BEAT_MS, hideWorker, type SeenWorker, showWorker } from './worker-list.ts';

export interface Served {
  readonly done: number;
  readonly duplicates: number;
}

const STALLED_CHECK_MS = 5000;
/** How long BullMQ waits after something went wrong before it asks again. */
const RETRY_MS = 1000;
/** A worker that is to end waits this long for a Redis that is gone. */
const GONE_MS = 10_000;

/** Takes jobs from the queue until it is told to stop; what has been begun is finished. */
export async function serveJobs(options: ServeOptions): Promise<Served> {
  const packages = loadPackages();
  const redis = await connect(packages, options.address);
  const note = await refuseUnfit(redis).catch((error) => {
    redis.disconnect();
    throw error;
  });
  if (note !== undefined) options.onNote(note);
  const self: SeenWorker = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    slots: options.slots,
    spec: options.spec,
    version: options.version,
    commit: options.commit,
  };
  const name = queueName(options.spec, options.version);
  const place = { connection: queueConnection(options.address), prefix: PREFIX };
  const connection = new Connection(redis);
  const office = new Office(redis, options, {
    worker: self.id,
    DelayedError: packages.DelayedError,
    openQueue: () => {
      const queue = new packages.Queue(name, place);
      // The connection of the worker says what is wrong.
      queue.on('error', () => {});
      return queue;
    },
    onHands: (count) => setHands(worker, count, options.slots),
    onRefusal: connection.refused,
  });
  const worker: Worker = new packages.Worker(name, office.take, {
    ...place,
    concurrency: Math.min(2, options.slots),
    lockDuration: options.lockMs,
    stalledInterval: Math.min(STALLED_CHECK_MS, options.lockMs),
    // How often a job may be begun is counted by the jobs themselves.
    maxStalledCount: 1_000_000,
    drainDelay: 1,
    runRetryDelay: RETRY_MS,
  });
  worker.on('drained', office.noteDrained);
  let outage = '';
  worker.on('error', (error: Error) => {
    let message: string;
    if (/Missing (?:key|lock)|Lock mismatch|renew lock/i.test(error.message))
      message =
        'a query that was run here was given to another worker meanwhile, or Redis has lost its data';
    else if (error instanceof SyntaxError)
      message = `an entry of the queue cannot be read: ${error.message}`;
    else if (isRefusal(error) || error.message.startsWith('NOPERM'))
      message = `Redis does not do its work: ${error.message}`;
    else message = `the queue cannot be reached: ${error.message}`;
    if (message !== outage) options.onNote(message);
    outage = message;
  });
  redis.on('ready', () => {
    outage = '';
  });
  const beat = setInterval(() => void showWorker(redis, self).catch(() => {}), BEAT_MS);
  const pulse = new Pulse(redis);
  // Whoever ends a worker should not have to wait for a Redis that is silent.
  options.signal.addEventListener('abort', () => void pulse.look(), { once: true });
  try {
    await showWorker(redis, self);
    options.onReady();
    await untilEnd(options, office, connection);
    // What is in progress is finished, as long as there is someone to tell.
    const closing = worker
      .close()
      .then(() => office.close())
      .then(() => hideWorker(redis, self))
      .then(() => true);
    const isTold = await Promise.race([closing, connection.goneFor(GONE_MS).then(() => false)]);
    if (!isTold) {
      closing.catch(() => {});
      await Promise.race([worker.close(true).catch(() => {}), sleep(1000)]);
      throw new UserError(
        'QUEUE_LOST',
        'Redis is gone or cannot work, so the results of what was in progress could not be sent',
        {
          hint: 'Other workers will run those queries again.',
        },
      );
    }
  } finally {
    clearInterval(beat);
    pulse.stop();
    hangUp(redis);
  }
  return { done: office.done, duplicates: office.duplicates };
}

/** Until the signal, or until there was nothing to do for long enough. */
function untilEnd(
  { signal, idleMs }: ServeOptions,
  office: Office,
  connection: Connection,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const watch =
      idleMs === undefined
        ? undefined
        : setInterval(
            () => {
              // Without Redis there is no work either.
              if (office.idleForMs() >= idleMs || connection.goneMs() >= Math.max(idleMs, GONE_MS))
                end();
            },
            Math.min(500, idleMs),
          );
    const end = (): void => {
      clearInterval(watch);
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}

/** A Redis that refused within this time still does. */
const REFUSING_MS = 2000;

/** How long Redis has not been there, or has not been able to work. */
class Connection {
  readonly #redis: Client;
  #goneAt: number | undefined;
  #refusing = { since: 0, at: 0 };

  constructor(redis: Client) {
    this.#redis = redis;
    redis.on('close', () => {
      this.#goneAt ??= Date.now();
    });
    redis.on('ready', () => {
      this.#goneAt = undefined;
    });
  }

  refused = (): void => {
    const at = Date.now();
    this.#refusing = {
      since: at - this.#refusing.at < REFUSING_MS ? this.#refusing.since : at,
      at,
    };
  };

  goneMs = (): number => {
    const now = Date.now();
    const refusedMs = now - this.#refusing.at < REFUSING_MS ? now - this.#refusing.since : 0;
    const goneMs =
      this.#goneAt === undefined || this.#redis.status === 'ready' ? 0 : now - this.#goneAt;
    return Math.max(goneMs, refusedMs);
  };

  /** Waits until it has been gone for so long. */
  async goneFor(ms: number): Promise<void> {
    while (this.goneMs() < ms) await sleep(200, undefined, { ref: false });
  }
}
