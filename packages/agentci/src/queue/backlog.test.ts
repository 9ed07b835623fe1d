import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Backlog } from './backlog.ts';

test('all who wait have their turn, in the order they came', async () => {
  const backlog = new Backlog();
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 500 }, (_, i) => backlog.wait().then(() => order.push(i))),
  );
  expect(order).toEqual(Array.from({ length: 500 }, (_, i) => i));
});

test('no one proceeds in the turn in which it came, and a few proceed at a time', async () => {
  const backlog = new Backlog();
  let gone = 0;
  const all = Array.from({ length: 8 }, () => backlog.wait().then(() => gone++));
  await Promise.resolve();
  expect(gone).toBe(0);
  await all[0];
  expect(gone).toBeLessThan(8);
  await Promise.all(all);
});

test('one that comes after all the others is not forgotten', async () => {
  const backlog = new Backlog();
  await backlog.wait();
  await sleep(5);
  await backlog.wait();
});
