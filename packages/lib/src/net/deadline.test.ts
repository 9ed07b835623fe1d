import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectGarbage } from '@agentci/testing/garbage';
import { ROOT } from '@agentci/testing/node';
import { SLOW_SERVERS, serveSlowly } from '@agentci/testing/slow-servers';
import { sourceFiles } from '@agentci/testing/source-files';
import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';

const SLOW = Object.keys(SLOW_SERVERS) as (keyof typeof SLOW_SERVERS)[];
const ask = (url: string, signal: AbortSignal) =>
  fetch(url, { signal }).then((response) => response.text());

test.each(SLOW)(
  'ends the wait for a server that %s, even after garbage collection',
  async (how) => {
    await using server = await serveSlowly(how);
    using _garbage = collectGarbage();
    const outer = new AbortController();
    const seen = withDeadline({ ms: 400, signal: outer.signal }, async ({ signal, isOver }) => {
      const error = await ask(server.url, signal).catch((reason: Error) => reason);
      return [(error as Error).name, isOver()];
    });
    expect(await seen).toEqual(['TimeoutError', true]);
  },
);

test('an end from outside is not one of time', async () => {
  await using server = await serveSlowly('never answers');
  const outer = new AbortController();
  const seen = withDeadline({ ms: 60_000, signal: outer.signal }, async ({ signal, isOver }) => {
    setTimeout(() => outer.abort(), 20);
    const error = await ask(server.url, signal).catch((reason: Error) => reason);
    return [(error as Error).name, isOver()];
  });
  expect(await seen).toEqual(['AbortError', false]);
});

test('nothing else limits a wait by a signal that could be collected', () => {
  const found = sourceFiles().filter((file) =>
    /AbortSignal\.(any|timeout)\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(found).toEqual([]);
});
