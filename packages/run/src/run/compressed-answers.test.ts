import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpRunner } from '../runners/http.ts';

const asked = { query: 'hi', id: 'q1', run: 1, signal: new AbortController().signal };
const TEXT = Array.from({ length: 4000 }, (_, i) => `word ${(i * 7919) % 1000}`).join(' ');

async function ask(coding: string, body: Buffer, type = 'text/plain', isChunked = false) {
  const server = createServer((_, response) => {
    const length = isChunked ? {} : { 'content-length': String(body.length) };
    response
      .writeHead(200, { 'content-type': type, 'content-encoding': coding, ...length })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const runner = createHttpRunner(
    { kind: 'http', http: { url, method: 'POST', headers: {} } },
    { dir: '.', env: {}, timeoutMs: 1000, workers: 1 },
  );
  return runner.run(asked);
}

const CODINGS = [
  { coding: 'gzip', compress: gzipSync },
  { coding: 'deflate', compress: deflateSync },
  { coding: 'br', compress: brotliCompressSync },
];

test.each(CODINGS)('an answer compressed with $coding is read', async ({ coding, compress }) => {
  expect(await ask(coding, compress(TEXT))).toMatchObject({ value: TEXT });
});

test.each(CODINGS.flatMap((one) => [true, false].map((isChunked) => ({ ...one, isChunked }))))(
  'an answer compressed with $coding that is cut in half is an error of the network (in chunks: $isChunked)',
  async ({ coding, compress, isChunked }) => {
    const whole = compress(TEXT);
    await expect(
      ask(coding, whole.subarray(0, whole.length / 2), 'text/plain', isChunked),
    ).rejects.toMatchObject({
      kind: 'infra',
      message: expect.stringContaining('the answer was cut off'),
    });
  },
);

test('so is a compressed stream of events', async () => {
  const whole = gzipSync(
    TEXT.split(' ')
      .map((word) => `data: ${word}\n\n`)
      .join(''),
  );
  await expect(
    ask('gzip', whole.subarray(0, whole.length / 2), 'text/event-stream', true),
  ).rejects.toMatchObject({
    kind: 'infra',
  });
});
