import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type Key, listenToKeys } from './keys.ts';

/** A fake terminal that records its raw mode. */
function terminal() {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => raw.push(isRaw),
  });
  return { input, raw };
}

async function keysOf(typed: string): Promise<{ keys: Key[]; echoed: string; interrupts: number }> {
  const { input } = terminal();
  const keys: Key[] = [];
  let echoed = '';
  let interrupts = 0;
  const release = listenToKeys(input, (key) => keys.push(key), {
    echo: (text) => {
      echoed += text;
    },
    interrupt: () => interrupts++,
  });
  input.write(typed);
  await new Promise((resolve) => setImmediate(resolve));
  release();
  return { keys, echoed, interrupts };
}

test.each<{ typed: string; keys: Key[] }>([
  { typed: 'a', keys: [{ key: 'all' }] },
  { typed: 'fo', keys: [{ key: 'failed' }, { key: 'open' }] },
  { typed: 'q', keys: [{ key: 'quit' }] },
  { typed: 'xyz', keys: [] },
  { typed: '/refund\r', keys: [{ key: 'filter', text: 'refund' }] },
  { typed: '/aq\u007f\r', keys: [{ key: 'filter', text: 'a' }] },
  { typed: '/\r', keys: [{ key: 'filter', text: '' }] },
  { typed: '/aq\u001bq', keys: [{ key: 'quit' }] },
])('$typed', async ({ typed, keys }) => {
  expect((await keysOf(typed)).keys).toEqual(keys);
});

test('Ctrl-C is passed on, while typing too', async () => {
  expect((await keysOf('\u0003')).interrupts).toBe(1);
  expect((await keysOf('/ab\u0003')).interrupts).toBe(1);
});

test('the terminal is given back, and without one nothing is listened to', () => {
  const { input, raw } = terminal();
  listenToKeys(input, () => {}, { echo: () => {}, interrupt: () => {} })();
  expect(raw).toEqual([true, false]);
  expect(input.listenerCount('data')).toBe(0);
  const pipe = new PassThrough();
  listenToKeys(pipe, () => {}, { echo: () => {}, interrupt: () => {} })();
  expect(pipe.listenerCount('data')).toBe(0);
});
