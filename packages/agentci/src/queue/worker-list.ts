import type { Redis } from 'ioredis';
import { isObject } from '../kit/object.ts';
import { WORKERS_KEY } from './keys.ts';

export interface WorkerInfo {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly slots: number;
  /** Hash of its spec. */
  readonly spec: string;
  readonly version: string;
  /** The git commit in its folder, if known. */
  readonly commit?: string | undefined;
}

export const HEARTBEAT_MS = 1000;
/** Clocks of machines may differ by less than this. */
const GONE_MS = 4 * HEARTBEAT_MS;
const FORGET_MS = 60 * 60_000;

export async function sendHeartbeat(redis: Redis, worker: WorkerInfo): Promise<void> {
  await redis.zadd(WORKERS_KEY, Date.now(), JSON.stringify(worker));
  await redis.zremrangebyscore(WORKERS_KEY, 0, Date.now() - FORGET_MS);
}

export const removeWorker = (redis: Redis, worker: WorkerInfo): Promise<number> =>
  redis.zrem(WORKERS_KEY, JSON.stringify(worker));

/** Workers with a recent heartbeat. */
export async function listWorkers(redis: Redis): Promise<WorkerInfo[]> {
  const texts = await redis.zrangebyscore(WORKERS_KEY, Date.now() - GONE_MS, '+inf');
  return texts.flatMap((text) => {
    try {
      const value: unknown = JSON.parse(text);
      return isWorker(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

const isWorker = (value: unknown): value is WorkerInfo =>
  isObject(value) &&
  ['id', 'host', 'spec', 'version'].every((key) => typeof value[key] === 'string') &&
  ['pid', 'slots'].every((key) => typeof value[key] === 'number') &&
  (value.commit === undefined || typeof value.commit === 'string');
