import { parseExact, stringifyExact } from '@agentci/lib/json';
import { describe, expect, test } from 'vitest';
import { messagesIn } from '../message.ts';
import type { TapLine } from '../tap-log.ts';
import { CassettePlayer } from './player.ts';
import { CassetteRecording } from './recording.ts';

const TOKEN = `ghp_${'aB3dE6gH9'.repeat(4)}`;
const call = (id: number, args: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 't', arguments: args },
});
const reply = (id: number, text: string) => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
});

type Said = readonly ['c2s' | 's2c', object];
function record(...messages: readonly Said[]): CassetteRecording {
  const recording = new CassetteRecording(() => 0);
  for (const [dir, message] of messages)
    recording.add(dir, Buffer.from(`${JSON.stringify(message)}\n`));
  return recording;
}

test('a credential in a request becomes a placeholder and still matches', () => {
  const text = record(['c2s', call(1, { token: TOKEN })], ['s2c', reply(1, 'done')]).finished()
    .text;
  expect(text).not.toContain(TOKEN);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TapLine);
  const other = `ghp_${'zY8xW5vU2'.repeat(4)}`;
  expect(new CassettePlayer(lines).answer(call(7, { token: other }))).toMatchObject({
    id: 7,
    result: {},
  });
});

test('a credential in an answer refuses the recording', () => {
  expect(
    () => record(['c2s', call(1, {})], ['s2c', reply(1, `use ${TOKEN}`)]).finished().text,
  ).toThrowError(expect.objectContaining({ code: 'CASSETTE_SECRET' }));
});

describe('a text in a field that is named like a credential', () => {
  const PASSWORD = 'hunter2hunter2';
  const login = (id: number, password: string, more: object = {}) =>
    call(id, { user: 'ann', deep: [{ login: { password, apiKey: `k-${password}` } }], ...more });
  const recorded = (...more: readonly Said[]) =>
    record(['c2s', login(1, PASSWORD)], ['s2c', reply(1, 'welcome')], ...more);

  test('becomes a placeholder, and another value matches', () => {
    const { text } = recorded().finished();
    expect(text).not.toContain(PASSWORD);
    expect(text).toContain('"login":{"password":"[secret]","apiKey":"[secret]"}');
    expect(new CassettePlayer(linesIn(text)).answer(login(7, 'another-one-9'))).toMatchObject({
      id: 7,
      result: {},
    });
  });

  test('is masked if the same request repeats it', () => {
    const session = (password: string) =>
      login(1, password, { command: `psql --with ${password}` });
    const { text } = record(['c2s', session(PASSWORD)], ['s2c', reply(1, 'ok')]).finished();
    expect(text).toContain('psql --with [secret]');
    expect(new CassettePlayer(linesIn(text)).answer(session('another-one-9'))).toMatchObject({
      result: {},
    });
  });

  // Each has a different value, because a refused value is remembered.
  test.each<[string, (secret: string) => Said]>([
    ['its answer', (secret) => ['s2c', reply(1, `welcome, ${secret}`)]],
    [
      'its answer in Base64',
      (secret) => ['s2c', reply(1, Buffer.from(`ann:${secret}`).toString('base64'))],
    ],
    [
      'a notification',
      (data) => ['s2c', { jsonrpc: '2.0', method: 'notifications/message', params: { data } }],
    ],
    ['another request', (secret) => ['c2s', call(2, { q: `x ${secret}` })]],
  ])('refuses the recording where %s repeats it', (where, repeat) => {
    const secret = `s3cr-${where.replaceAll(' ', '.')}-7`;
    const session = record(
      ['c2s', login(1, secret)],
      repeat(secret),
      ['s2c', reply(1, 'ok')],
      ['s2c', reply(2, 'ok')],
    );
    expect(() => session.finished()).toThrowError(
      expect.objectContaining({
        code: 'CASSETTE_SECRET',
        message: expect.not.stringContaining(secret),
      }),
    );
  });

  test('refuses the recording if an answer had it before', () => {
    const secret = 'given-before-42';
    const early = record(
      ['c2s', call(1, {})],
      ['s2c', reply(1, `use ${secret}`)],
      ['c2s', login(2, secret)],
    );
    early.add('s2c', Buffer.from(JSON.stringify(reply(2, 'ok'))));
    expect(() => early.finished()).toThrowError(
      expect.objectContaining({ code: 'CASSETTE_SECRET' }),
    );
  });

  test('is not in a miss, nor in what a replay takes from a file that has it', () => {
    const lines: TapLine[] = [
      { ts: '', dir: 'c2s', message: login(1, PASSWORD) },
      { ts: '', dir: 's2c', message: reply(1, 'welcome') },
    ];
    const player = new CassettePlayer(lines);
    const asked = login(2, 'another-one-9', { user: 'bob' });
    expect(player.answer(asked)).toHaveProperty('error');
    expect(player.answer(call(3, { deep: 1 }))).toHaveProperty('error');
    const said = player.misses.map(({ message }) => message).join('\n');
    expect(said).toContain('differs at /arguments/user: recorded "ann", asked "bob"');
    expect(said).not.toMatch(/hunter2|another-one/);
    expect(player.answer(login(4, 'another-one-9'))).toMatchObject({ id: 4, result: {} });
  });

  test('in the schema of a tool stays, and so does what the server gives by such a name', () => {
    const tools = [
      {
        name: 't',
        inputSchema: { properties: { password: { type: 'string', default: 'changeme-please' } } },
      },
    ];
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const { text } = recorded(
      ['c2s', list],
      ['s2c', { jsonrpc: '2.0', id: 2, result: { tools } }],
    ).finished();
    expect(new CassettePlayer(linesIn(text)).answer(list)).toMatchObject({ result: { tools } });
  });

  test('that the client answers the server with is not stored', () => {
    const { text } = recorded(
      [
        's2c',
        { jsonrpc: '2.0', id: 'e', method: 'elicitation/create', params: { message: 'who?' } },
      ],
      [
        'c2s',
        {
          jsonrpc: '2.0',
          id: 'e',
          result: { action: 'accept', content: { password: 'elicited-4711' } },
        },
      ],
    ).finished();
    expect(text).not.toContain('elicited-4711');
  });
});

const cancel = (id: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId: id },
});
const linesIn = (text: string): TapLine[] =>
  text
    .trim()
    .split('\n')
    .map((line) => parseExact(line) as TapLine);

test.each(['tools/call', 'tools/list', 'resources/read'])(
  'a %s without an answer refuses the recording',
  (method) => {
    const asked = { jsonrpc: '2.0', id: 2, method };
    expect(() =>
      record(['c2s', call(1, {})], ['s2c', reply(1, 'a')], ['c2s', asked]).finished(),
    ).toThrowError(expect.objectContaining({ code: 'CASSETTE_INCOMPLETE' }));
  },
);

test('a cancelled call gets no answer again, and is a miss if it is not cancelled this time', () => {
  const session = record(
    ['c2s', call(1, {})],
    ['s2c', reply(1, 'a')],
    ['c2s', call(2, { slow: 1 })],
    ['c2s', cancel(2)],
  );
  const { text, calls } = session.finished();
  expect(calls).toBe(2);
  const player = new CassettePlayer(linesIn(text));
  expect(player.answer(call(5, { slow: 1 }))).toBeUndefined();
  expect(player.misses).toEqual([
    expect.objectContaining({ message: expect.stringContaining('cancelled') }),
  ]);
  player.answer(cancel(5));
  expect([player.misses, player.served]).toEqual([[], 1]);
  expect(new CassettePlayer(player.rest()).answer(call(6, {}))).toMatchObject({
    id: 6,
    result: {},
  });
});

test.each([
  ['nothing was said', []],
  ['nothing was answered', [['c2s', { jsonrpc: '2.0', method: 'notifications/initialized' }]]],
  [
    'all that was asked was cancelled',
    [
      ['c2s', call(1, {})],
      ['c2s', cancel(1)],
    ],
  ],
] as const)('a session in which %s is not a recording', (_, messages) => {
  expect(() => record(...messages).finished()).toThrowError(
    expect.objectContaining({ code: 'CASSETTE_EMPTY' }),
  );
});

test('resources and prompts are calls like tools, descriptions of the server are not', () => {
  const asked = (id: number, method: string) => ({ jsonrpc: '2.0', id, method });
  const both = (id: number, method: string) =>
    [
      ['c2s', asked(id, method)],
      ['s2c', reply(id, 'x')],
    ] as const;
  const { text } = record(
    ...both(1, 'tools/list'),
    ...both(2, 'resources/read'),
    ...both(3, 'prompts/get'),
  ).finished();
  const player = new CassettePlayer(linesIn(text));
  expect([player.calls, player.unused]).toEqual([2, 2]);
  player.answer(asked(1, 'tools/list'));
  player.answer(asked(2, 'prompts/get'));
  expect([player.answered, player.served, player.unused]).toEqual([2, 1, 1]);
});

test.each([
  ['9007199254740993', true],
  ['9007199254740992', false],
])(
  'a number that JavaScript would round is compared and given by its digits: asked %s',
  (asked, isKnown) => {
    const line = (id: string, number: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t","arguments":{"row":${number}}}}`;
    const recording = new CassetteRecording(() => 0);
    recording.add('c2s', Buffer.from(line('9007199254740995', '9007199254740993')));
    recording.add(
      's2c',
      Buffer.from('{"jsonrpc":"2.0","id":9007199254740995,"result":{"row":9007199254740993}}'),
    );
    const text = recording.finished().text;
    expect(text).toContain('"result":{"row":9007199254740993}');
    const lines = text.trim().split('\n');
    const player = new CassettePlayer(lines.map((one) => parseExact(one) as TapLine));
    const [message] = messagesIn(line('9007199254740997', asked), parseExact)!;
    const given = stringifyExact(player.answer(message!));
    expect(given).toContain('"id":9007199254740997');
    expect(given.includes('"row":9007199254740993')).toBe(isKnown);
    expect(player.misses.map((miss) => miss.message)).toEqual(
      isKnown
        ? []
        : [
            'cassette miss: tools/call t: the nearest recorded one differs at /arguments/row: recorded 9007199254740993, asked 9007199254740992',
          ],
    );
  },
);
