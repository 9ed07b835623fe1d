import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { connect, loadPackages, queueConnection } from './client.ts';
import { PREFIX, queueName } from './names.ts';
import { Office } from './office.ts';
import type { ServeOptions } from './serve-options.ts';
import { BEAT_MS, hideWorker, type SeenWorker, showWorker } from './worker-list.ts';

export interface Served {
  readonly done: number;
  readonly duplicates: number;
}

const STALLED_CHECK_MS = 5000;

/** Takes jobs from the queue until it is told to stop; what has been begun is finished. */
export async function serveJobs(options: ServeOptions): Promise<Served> {
  const packages = await loadPackages();
  const redis = await connect(packages, options.address);
  const self: SeenWorker = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    slots: options.slots,
    spec: options.spec,
    version: options.version,
  };
  const office = new Office(redis, options, { worker: self.id, DelayedError: packages.DelayedError });
  const worker = new packages.Worker(queueName(options.spec, options.version), office.take, {
    connection: queueConnection(options.address),
    prefix: PREFIX,
    concurrency: options.slots,
    lockDuration: options.lockMs,
    stalledInterval: Math.min(STALLED_CHECK_MS, options.lockMs),
    // How often a job may be begun is counted by the jobs themselves.
    maxStalledCount: 1_000_000,
    drainDelay: 1,
  });
  let outage = '';
  worker.on('error', (error: Error) => {
    if (error.message !== outage) options.onNote(`the queue cannot be reached: ${error.message}`);
    outage = error.message;
  });
  redis.on('ready', () => {
    outage = '';
  });
  const beat = setInterval(() => void showWorker(redis, self).catch(() => {}), BEAT_MS);
  try {
    await showWorker(redis, self);
    await untilEnd(options, office);
    await worker.close();
    await office.close();
    await hideWorker(redis, self);
  } finally {
    clearInterval(beat);
    redis.disconnect();
  }
  return { done: office.done, duplicates: office.duplicates };
}

/** Until the signal, or until there was nothing to do for long enough. */
function untilEnd({ signal, idleMs }: ServeOptions, office: Office): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const watch =
      idleMs === undefined
        ? undefined
        : setInterval(
            () => {
              if (office.idleForMs() >= idleMs) end();
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
