import type { Worker } from 'bullmq';

/**
 * How many bundles may be here at a time. A worker of BullMQ that has as many as it may looks again when one of them is over, which
 * is late where a long job is in each: it has to be woken. Where a later version knows no way, it takes one for each slot.
 */
export function setHands(worker: Pick<Worker, 'concurrency'>, count: number, slots: number): void {
  const { mainLoopQueue } = worker as { mainLoopQueue?: { add?: (wake: Promise<void>) => void } };
  const isMore = count > worker.concurrency;
  worker.concurrency = mainLoopQueue?.add === undefined ? slots : count;
  if (isMore) mainLoopQueue?.add?.(Promise.resolve());
}
