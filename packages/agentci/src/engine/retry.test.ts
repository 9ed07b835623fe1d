import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentError } from '../runners/runner.ts';
import { retryDelay, withRetries } from './retry.ts';

const options = { retries: 2, signal: new AbortController().signal, random: () => 0 };
const fastInfra = () => new AgentError('infra', 'busy', { retryAfterMs: 0 });

test('tries again after infrastructure errors, and gives the answer of the try that worked', async () => {
  const retried: number[] = [];
  const answer = await withRetries(async (n) => (n < 1 ? Promise.reject(fastInfra()) : `try ${n}`), {
    ...options,
    onRetry: (attempt) => retried.push(attempt),
  });
  expect(answer).toBe('try 1');
  expect(retried).toEqual([1]);
});

test('gives up after the last try', async () => {
  let tries = 0;
  const attempt = () => {
    tries++;
    return Promise.reject(fastInfra());
  };
  await expect(withRetries(attempt, { ...options, retries: 1 })).rejects.toMatchObject({ kind: 'infra' });
  expect(tries).toBe(2);
});

test.each([
  { what: 'an error of the agent', error: new AgentError('agent', 'bad prompt') },
  { what: 'a bug of ours', error: new TypeError('undefined is not a function') },
])('does not repeat $what', async ({ error }) => {
  let tries = 0;
  const attempt = () => {
    tries++;
    return Promise.reject(error);
  };
  await expect(withRetries(attempt, options)).rejects.toBe(error);
  expect(tries).toBe(1);
});

test('stops waiting when the run is interrupted', async () => {
  const controller = new AbortController();
  const attempt = () => Promise.reject(new AgentError('infra', 'busy', { retryAfterMs: 60_000 }));
  const running = withRetries(attempt, { ...options, signal: controller.signal, onRetry: () => controller.abort() });
  await expect(running).rejects.toMatchObject({ kind: 'infra' });
});

test('a delay is never shorter than asked for, never longer than two minutes', () => {
  const retryAfter = fc.option(fc.nat(10_000_000), { nil: undefined });
  fc.assert(
    fc.property(fc.nat(40), retryAfter, fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, after, chance) => {
      const delay = retryDelay(attempt, after, () => chance);
      expect(delay).toBeLessThanOrEqual(120_000);
      if (after !== undefined) expect(delay).toBeGreaterThanOrEqual(Math.min(after, 120_000));
    }),
  );
});

test.each([
  { attempt: 0, chance: 0, ms: 800 },
  { attempt: 0, chance: 0.5, ms: 1000 },
  { attempt: 0, chance: 1, ms: 1200 },
  { attempt: 1, chance: 0.5, ms: 2000 },
  { attempt: 2, chance: 0.5, ms: 4000 },
  { attempt: 20, chance: 0.5, ms: 120_000 },
])('try $attempt waits $ms ms when chance is $chance', ({ attempt, chance, ms }) => {
  expect(retryDelay(attempt, undefined, () => chance)).toBeCloseTo(ms, 6);
});

test.each([
  { after: 0, ms: 0 },
  { after: 300, ms: 300 },
  { after: 500_000, ms: 120_000 },
])('what the server asks for wins: $after ms', ({ after, ms }) => {
  expect(retryDelay(3, after, () => 0.5)).toBe(ms);
});
test('a run that is interrupted while it waits is not tried once more', async () => {
  const controller = new AbortController();
  let tries = 0;
  const attempt = () => {
    tries++;
    return Promise.reject(fastInfra());
  };
  const running = withRetries(attempt, { ...options, signal: controller.signal, onRetry: () => controller.abort() });
  await expect(running).rejects.toMatchObject({ kind: 'infra' });
  expect(tries).toBe(1);
});
