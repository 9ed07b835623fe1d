import { expect, test } from 'vitest';
import { AgentError } from '../runners/runner.ts';
import { withRetries } from './retry.ts';

const options = { retries: 2, signal: new AbortController().signal, random: () => 0 };
const fastInfra = () => new AgentError('infra', 'busy', { retryAfterMs: 0 });

test('tries again after infrastructure errors, and gives the answer of the try that worked', async () => {
  const retried: number[] = [];
  const answer = await withRetries(
    async (n) => (n < 1 ? Promise.reject(fastInfra()) : `try ${n}`),
    {
      ...options,
      onRetry: (attempt) => retried.push(attempt),
    },
  );
  expect(answer).toBe('try 1');
  expect(retried).toEqual([1]);
});

test('gives up after the last try', async () => {
  let tries = 0;
  const attempt = () => {
    tries++;
    return Promise.reject(fastInfra());
  };
  await expect(withRetries(attempt, { ...options, retries: 1 })).rejects.toMatchObject({
    kind: 'infra',
  });
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
  const running = withRetries(attempt, {
    ...options,
    signal: controller.signal,
    onRetry: () => controller.abort(),
  });
  await expect(running).rejects.toMatchObject({ kind: 'infra' });
});

test('a run that is interrupted while it waits is not tried once more', async () => {
  const controller = new AbortController();
  let tries = 0;
  const attempt = () => {
    tries++;
    return Promise.reject(fastInfra());
  };
  const running = withRetries(attempt, {
    ...options,
    signal: controller.signal,
    onRetry: () => controller.abort(),
  });
  await expect(running).rejects.toMatchObject({ kind: 'infra' });
  expect(tries).toBe(1);
});
