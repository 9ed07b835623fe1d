import { expect, test } from 'vitest';
import { Limiter } from './limiter.ts';

/** A clock that advances only while someone waits. */
function clock() {
  let time = 0;
  return {
    now: () => time,
    sleep: async (ms: number) => {
      time += ms;
    },
  };
}

test('no more calls are started in a minute than allowed', async () => {
  const time = clock();
  const limiter = new Limiter({ concurrent: 1, perMinute: 3 }, time);
  const started: number[] = [];
  for (let i = 0; i < 7; i++) await limiter.run(async () => started.push(time.now()));
  expect(started).toEqual([0, 0, 0, 60_000, 60_000, 60_000, 120_000]);
});

test('a pause holds everybody, and a shorter one does not shorten it', async () => {
  const time = clock();
  const limiter = new Limiter({ concurrent: 2, perMinute: 100 }, time);
  limiter.pause(5000);
  limiter.pause(10);
  expect(await limiter.run(async () => time.now())).toBe(5000);
});

test('a task that throws gives its place back', async () => {
  const limiter = new Limiter({ concurrent: 1, perMinute: 100 }, clock());
  await expect(limiter.run(() => Promise.reject(new Error('x')))).rejects.toThrow('x');
  expect(await limiter.run(async () => 'next')).toBe('next');
});
