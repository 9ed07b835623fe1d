import { collectGarbage } from '@agentci/testing/garbage';
import { serveSlowly } from '@agentci/testing/slow-servers';
import { expect, test } from 'vitest';
import { ioOf } from '../../test/support/io.ts';
import { sendNotice } from './send.ts';

test.each([
  { how: 'never answers', timeoutMs: 300, reason: 'no answer within 0.3 s (3 attempts)', taken: 3 },
  // The text after the status line does not matter.
  { how: 'sends headers and then nothing', timeoutMs: 20_000, reason: undefined, taken: 1 },
  { how: 'sends a byte now and then, for ever', timeoutMs: 20_000, reason: undefined, taken: 1 },
] as const)(
  'a message to a server that $how comes to an end',
  async ({ how, timeoutMs, reason, taken }) => {
    await using server = await serveSlowly(how);
    using _garbage = collectGarbage();
    const { io } = ioOf('/', { env: { AGENTCI_WEBHOOK_URL: server.url } });
    expect(await sendNotice('webhook', '{}', io, { timeoutMs, firstWaitMs: 1 })).toBe(reason);
    expect(server.taken()).toBe(taken);
  },
);

test('an interruption ends the wait for the next attempt', async () => {
  await using server = await serveSlowly('never answers');
  const stop = new AbortController();
  const { io } = ioOf('/', { env: { AGENTCI_WEBHOOK_URL: server.url }, signal: stop.signal });
  setTimeout(() => stop.abort(), 200);
  expect(await sendNotice('webhook', '{}', io, { timeoutMs: 50, firstWaitMs: 60_000 })).toContain(
    '(1 attempt)',
  );
});
