import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VerdictQueue } from './verdict-queue.ts';

test('whoever else has something to do gets a turn before each verdict', async () => {
  const verdicts = new VerdictQueue(10);
  const seen: string[] = [];
  for (const name of ['a', 'b', 'c']) await verdicts.add(async () => void seen.push(name));
  for (let n = 0; n < 3; n++) {
    seen.push('turn');
    await turn();
  }
  await verdicts.settled();
  expect(seen.join(' ')).toBe('turn a turn b turn c');
});

test('a verdict that cannot be written down is told at the end, and the others are given', async () => {
  const verdicts = new VerdictQueue(1);
  const seen: string[] = [];
  await verdicts.add(() => Promise.reject(new Error('the disk is full')));
  await verdicts.add(async () => void seen.push('b'));
  await verdicts.settled();
  expect([seen, verdicts.hasFailed()]).toEqual([['b'], true]);
  expect(() => verdicts.throwFailure()).toThrow('the disk is full');
});
