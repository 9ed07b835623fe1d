import { expect, test } from 'vitest';
import { readEvidence } from './captured-run.ts';
import type { Exchange } from './exchange.ts';

const exchange = (more: Partial<Exchange>): Exchange => ({
  i: 1,
  at: 0,
  route: 'chat',
  provider: 'openai',
  method: 'POST',
  uri: 'http://127.0.0.1:9/v1/chat/completions',
  request: Buffer.from('{"model":"m","messages":[]}'),
  status: 200,
  headers: { 'content-type': 'application/json' },
  chunks: [
    [1, Buffer.from('{"model":"m","choices":[{"message":{"role":"assistant","content":"x"}}]}')],
  ],
  ttfbMs: 1,
  endMs: 2,
  complete: true,
  ...more,
});

test.each<[string, Partial<Exchange>, string | undefined]>([
  [
    'dead',
    { status: undefined, chunks: [], complete: false, error: 'no reply from h (ECONNREFUSED)' },
    'ECONNREFUSED',
  ],
  [
    'broken off',
    { chunks: [], complete: false, why: 'upstream_reset' },
    'broke the connection off',
  ],
  ['failing', { status: 500, chunks: [] }, 'status 500'],
  ['a website', { headers: { 'content-type': 'text/html; charset=utf-8' } }, 'a web page'],
  ['well', {}, undefined],
])('an upstream that is %s is named as the reason', (_, more, reason) => {
  const { warnings } = readEvidence(
    { exchanges: [exchange(more)], telemetry: [], mcp: [], gaps: [], notes: [] },
    'q',
  );
  const [found] = warnings.filter(({ code }) => code === 'CAPTURE_UPSTREAM_FAILED');
  expect(found?.message).toEqual(
    reason === undefined ? undefined : expect.stringContaining(reason),
  );
});
