import { Worker } from 'bullmq';
import { expect, test } from 'vitest';
import { setHands } from './set-hands.ts';

const worker = (concurrency: number) => {
  let woken = 0;
  return { concurrency, mainLoopQueue: { add: () => void woken++ }, woken: () => woken };
};

test('a worker that may take more is woken, and one that may take less is not', () => {
  const more = worker(2);
  setHands(more, 3, 25);
  expect([more.concurrency, more.woken()]).toEqual([3, 1]);
  const less = worker(3);
  setHands(less, 2, 25);
  expect([less.concurrency, less.woken()]).toEqual([2, 0]);
});

test('a worker that cannot be woken takes a bundle for each slot', () => {
  const other = { concurrency: 2 };
  setHands(other, 3, 25);
  expect(other.concurrency).toBe(25);
});

test('the BullMQ that is installed can be woken', () => {
  expect(String(Worker)).toMatch(/this\.mainLoopQueue = (?!null)\w/);
});
