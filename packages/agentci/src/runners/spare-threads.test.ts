import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { SpareThreads } from './spare-threads.ts';

/** Counts the threads that are started and those that have ended. */
function spares(most: number, source = 'setInterval(() => {}, 1000)') {
  const seen = { started: 0, ended: 0 };
  const threads = new SpareThreads(most, () => {
    seen.started++;
    return new Worker(source, { eval: true }).on('exit', () => {
      seen.ended++;
    });
  });
  onTestFinished(() => threads.close());
  return { threads, seen };
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await sleep(5);
};

test('as many threads are started as are missing, and ended with the pool', async () => {
  const { threads, seen } = spares(2);
  expect(threads.take()).toBeUndefined();
  threads.fill();
  await until(() => seen.started === 2);
  let taken: Worker | undefined;
  await until(() => {
    taken ??= threads.take();
    return taken !== undefined;
  });
  onTestFinished(async () => void (await taken!.terminate()));
  threads.fill();
  await until(() => seen.started === 3);
  await threads.close();
  expect(seen).toEqual({ started: 3, ended: 2 });
});

test('a thread that was taken is of no concern any more: its end reaches whoever took it', async () => {
  const { threads } = spares(1);
  threads.fill();
  let taken: Worker | undefined;
  await until(() => {
    taken ??= threads.take();
    return taken !== undefined;
  });
  expect(taken!.listenerCount('error')).toBe(0);
  const ended = new Promise((resolve) => taken!.once('exit', resolve));
  await taken!.terminate();
  await ended;
  expect(threads.take()).toBeUndefined();
});

test('none are started while runs are in progress; the end of the last run fills up', async () => {
  const { threads, seen } = spares(3);
  const releases = [threads.hold(), threads.hold()];
  threads.fill();
  releases[0]!();
  releases[0]!();
  await sleep(50);
  expect(seen.started).toBe(0);
  releases[1]!();
  await until(() => seen.started === 3);
});

test('threads that cannot be started are not tried again and again', async () => {
  const { threads, seen } = spares(3, 'throw new Error("no memory")');
  threads.fill();
  await until(() => seen.ended > 0);
  await sleep(100);
  expect(seen.started).toBeLessThanOrEqual(3);
  expect(threads.take()).toBeUndefined();
});
