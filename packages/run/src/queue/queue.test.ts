import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { addressText, parseQueueAddress } from './address.ts';
import { jobName, readJob, readQueuedRun } from './job.ts';
import { decodeBody, encodeBody } from './message.ts';
import { WorkerSlots } from './worker-slots.ts';

describe('an address', () => {
  test.each([
    [
      'redis://localhost',
      { host: 'localhost', port: 6379, db: 0, isTls: false },
      'redis://localhost:6379',
    ],
    [
      'rediss://10.0.0.5:7000/2',
      { host: '10.0.0.5', port: 7000, db: 2, isTls: true },
      'rediss://10.0.0.5:7000/2',
    ],
    ['redis://[::1]:6380', { host: '::1', port: 6380, db: 0, isTls: false }, 'redis://[::1]:6380'],
  ])('%s is read', (text, expected, shown) => {
    const address = parseQueueAddress(text, {});
    expect(address).toMatchObject(expected);
    expect(addressText(address)).toBe(shown);
  });

  test.each([
    '',
    'localhost:6379',
    'http://x',
    'redis://x/a',
    'redis://x?password=y',
    'redis://x/1/2',
    'redis://u:p@x',
  ])('%j is refused', (text) => expect(() => parseQueueAddress(text, {})).toThrow(/--queue/));

  test('has its credentials from the environment', () => {
    const env = { AGENTCI_QUEUE_PASSWORD: 'a-long-password', AGENTCI_QUEUE_USERNAME: 'ci' };
    expect(parseQueueAddress('redis://x', env)).toMatchObject({
      username: 'ci',
      password: 'a-long-password',
    });
  });
});

describe('a job', () => {
  const job = { run: '20261117-1-ab', id: 'refund', repeat: 2, cell: { model: 'a' } };

  test('is read as it was written', () => expect(readJob({ ...job })).toEqual(job));

  test.each([
    ['no object', 'refund'],
    ['another key', { ...job, command: 'rm -rf /' }],
    ['no id', { ...job, id: undefined }],
    ['an endless id', { ...job, id: 'x'.repeat(501) }],
    ['a run that is a path', { ...job, run: '../../etc' }],
    ['half a repeat', { ...job, repeat: 1.5 }],
    ['a repeat of nothing', { ...job, repeat: 0 }],
    ['a cell that is no map of texts', { ...job, cell: { model: { $ne: 1 } } }],
  ])('with %s is none', (_, value) => expect(readJob(value)).toBeUndefined());

  test('has a unique name without the separators of Redis and BullMQ', () => {
    const names = [
      job,
      { ...job, repeat: 3 },
      { ...job, cell: { model: 'b' } },
      { run: job.run, id: 'refund', repeat: 2 },
      { ...job, id: 'refund:1' },
    ].map(jobName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[\w.-]+$/);
    expect(jobName({ ...job, cell: { model: 'a' } })).toBe(jobName(job));
  });

  test('of a run whose description is invalid is not run', () => {
    const settings = { timeoutMs: 5, cassette: 'replay' };
    const run = { run: 'r', agent: 'a', spec: 's', version: '1', settings };
    expect(readQueuedRun(JSON.stringify(run))).toEqual(run);
    const invalid = [
      null,
      { ...settings, cassette: 'record' },
      { ...settings, retries: -1 },
      { ...settings, x: 1 },
    ].map((each) => JSON.stringify({ ...run, settings: each }));
    for (const text of ['', '[]', '{"run":"r"}', ...invalid])
      expect(readQueuedRun(text)).toBeUndefined();
  });
});

describe('a message', () => {
  test.each([
    ['small', { a: 1 }],
    ['large', { text: 'again '.repeat(10_000) }],
  ])('that is %s is decoded as it was encoded', (_, value) =>
    expect(decodeBody(encodeBody(value))).toEqual(value),
  );

  test('that is large is compressed', () =>
    expect(encodeBody({ text: 'again '.repeat(10_000) }).length).toBeLessThan(2000));

  test.each([
    ['empty', Buffer.alloc(0)],
    ['truncated', encodeBody({ text: 'again '.repeat(10_000) }).subarray(0, 50)],
    ['of another kind', Buffer.from('x{}')],
    ['a bomb', Buffer.concat([Buffer.from('z'), gzipSync(Buffer.alloc(300 * 1024 * 1024))])],
  ])('that is %s is not read', (_, bytes) => expect(decodeBody(bytes)).toBeUndefined());
});

test('a worker runs as many jobs as it has slots, or one that must run alone', async () => {
  const slots = new WorkerSlots(2);
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const use = (name: string, how: 'beside others' | 'alone'): Promise<void> =>
    slots.use(how, () => {
      started.push(name);
      return new Promise((resolve) => finish.set(name, resolve));
    });
  const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const all = [
    use('a', 'beside others'),
    use('b', 'beside others'),
    use('suspect', 'alone'),
    use('c', 'beside others'),
  ];
  await tick();
  expect(started).toEqual(['a', 'b']);
  finish.get('a')!();
  await tick();
  expect(started).toEqual(['a', 'b']);
  finish.get('b')!();
  await tick();
  expect(started).toEqual(['a', 'b', 'suspect']);
  finish.get('suspect')!();
  await tick();
  expect(started).toEqual(['a', 'b', 'suspect', 'c']);
  finish.get('c')!();
  await Promise.all(all);
});
