import type { Redis } from 'ioredis';
import { isObject } from '../kit/object.ts';
import { WORKERS_KEY } from './names.ts';

/** A worker as others see it. */
export interface SeenWorker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly slots: number;
  /** Hash of its spec. */
  readonly spec: string;
  readonly version: string;
  /** What is checked out there, where that can be told. */
  readonly commit?: string | undefined;
}

export const BEAT_MS = 1000;
const GONE_MS = 4 * BEAT_MS;

/** Gives a sign of life. */
export async function showWorker(redis: Redis, worker: SeenWorker): Promise<void> {
  await redis.zadd(WORKERS_KEY, Date.now(), JSON.stringify(worker));
  await redis.zremrangebyscore(WORKERS_KEY, 0, Date.now() - 60 * 60_000);
}

export async function hideWorker(redis: Redis, worker: SeenWorker): Promise<void> {
  await redis.zrem(WORKERS_KEY, JSON.stringify(worker));
}

/** Those that gave a sign of life lately. Clocks of machines differ by less than the time they are given. */
export async function seenWorkers(redis: Redis): Promise<SeenWorker[]> {
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

const isWorker = (value: unknown): value is SeenWorker =>
  isObject(value) &&
  ['id', 'host', 'spec', 'version'].every((key) => typeof value[key] === 'string') &&
  ['pid', 'slots'].every((key) => typeof value[key] === 'number') &&
  (value.commit === undefined || typeof value.commit === 'string');
