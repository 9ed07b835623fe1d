import { accepts, type Infer, v } from '@agentci/lib/values';
import type { Redis } from 'ioredis';
import { WORKERS_KEY } from './keys.ts';

const WORKER = v.looseObject({
  id: v.string(),
  host: v.string(),
  slots: v.number(),
  /** Hash of its spec. */
  spec: v.string(),
  version: v.string(),
  /** The git commit in its folder, if known. */
  commit: v.string().optional(),
});

export type WorkerInfo = Readonly<Infer<typeof WORKER>>;

export const HEARTBEAT_MS = 1000;
/** Clocks of machines may differ by less than this. */
const GONE_MS = 4 * HEARTBEAT_MS;
const FORGET_MS = 60 * 60_000;

export async function sendHeartbeat(redis: Redis, worker: WorkerInfo): Promise<void> {
  await redis.zadd(WORKERS_KEY, Date.now(), JSON.stringify(worker));
  await redis.zremrangebyscore(WORKERS_KEY, 0, Date.now() - FORGET_MS);
}

/** Workers with a recent heartbeat. */
export async function listWorkers(redis: Redis): Promise<WorkerInfo[]> {
  const texts = await redis.zrangebyscore(WORKERS_KEY, Date.now() - GONE_MS, '+inf');
  return texts.flatMap((text) => {
    try {
      const value: unknown = JSON.parse(text);
      return accepts(WORKER, value) ? [value as WorkerInfo] : [];
    } catch {
      return [];
    }
  });
}
