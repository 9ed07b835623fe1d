import { linesOfCalls, type McpCall, readMcpCall, writeMcpCall } from '@agentci/capture';
import { describe, expect, test } from 'vitest';
import type { TapLine } from '../tap-log.ts';
import { CassettePlayer, entriesOf } from './player.ts';
import { CassetteRecording } from './recording.ts';
import { leftOutText } from './server-messages.ts';

type Said = readonly ['c2s' | 's2c', object];

const call = (id: number, name: string, token?: number | string): object => ({
  id,
  method: 'tools/call',
  params: {
    name,
    arguments: {},
    ...(token === undefined ? {} : { _meta: { progressToken: token } }),
  },
});
const reply = (id: number): Said => ['s2c', { id, result: {} }];
const progress = (progressToken: number | string, at: number): Said => [
  's2c',
  { method: 'notifications/progress', params: { progressToken, progress: at } },
];
const told = (data: string): Said => ['s2c', { method: 'notifications/message', params: { data } }];
const CHANGED: Said = ['s2c', { method: 'notifications/tools/list_changed' }];

function recorded(...said: readonly Said[]): {
  lines: TapLine[];
  leftOut: Readonly<Record<string, number>>;
} {
  const recording = new CassetteRecording(() => 0);
  for (const [dir, message] of said)
    recording.add(dir, Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  const { text, leftOut } = recording.finished();
  return {
    lines: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as TapLine),
    leftOut,
  };
}
/** The recording after a round trip through a suite cassette. */
function throughSuite(lines: readonly TapLine[]): TapLine[] {
  const calls = entriesOf(lines).map(
    ({ method, params, answer, before, after, leftOut }): McpCall => {
      const { result } = answer ?? {};
      const given = answer === undefined ? {} : { answer: { result } };
      return { server: 's', method, params, ...given, before, after, leftOut };
    },
  );
  return linesOfCalls(
    calls.map((one, at) => {
      const read = readMcpCall(JSON.parse(JSON.stringify(writeMcpCall(one, at))), at);
      if (typeof read === 'string') throw new Error(read);
      return read;
    }),
  );
}
/** A short form of the client's input. */
function given(player: CassettePlayer, message: object): unknown[] {
  const { before, answer, after } = player.reply({ jsonrpc: '2.0', ...message });
  return [...before, ...(answer === undefined ? [] : [answer]), ...after].map((one) => {
    const { progressToken, progress: at, data } = (one.params ?? {}) as Record<string, unknown>;
    return one.id !== undefined
      ? one.id
      : (data ?? (at === undefined ? one.method : [progressToken, at]));
  });
}

describe.each([
  ['tap', (lines: TapLine[]) => lines],
  ['a suite', throughSuite],
  ['what is left of a recording', (lines: TapLine[]) => new CassettePlayer(lines).rest()],
])('unsolicited server messages, from a recording of %s,', (_, through) => {
  const player = (...said: readonly Said[]) => new CassettePlayer(through(recorded(...said).lines));

  test('comes before the answer and in order, with the token of the request', () => {
    const session: Said[] = [
      ['c2s', call(1, 'a', 't')],
      progress('t', 1),
      told('half'),
      progress('t', 2),
      reply(1),
    ];
    expect(given(player(...session), call(7, 'a', 99))).toEqual([[99, 1], 'half', [99, 2], 7]);
    expect(given(player(...session), call(7, 'a'))).toEqual(['half', 7]);
  });

  test('goes with the request whose token it has', () => {
    const session = player(
      ...([
        ['c2s', call(1, 'a', 1)],
        ['c2s', call(2, 'b', '1')],
      ] as Said[]),
      ...[progress(1, 10), progress('1', 20), told('of b'), reply(2), told('of a'), reply(1)],
    );
    expect(given(session, call(5, 'b', 'x'))).toEqual([['x', 20], 'of b', 5]);
    expect(given(session, call(6, 'a', 'y'))).toEqual([['y', 10], 'of a', 6]);
  });

  test('follows the answer that it came after, and starts the session if it was first', () => {
    const list = { id: 1, method: 'tools/list' };
    const session = player(
      told('up'),
      ['c2s', list],
      reply(1),
      CHANGED,
      ['c2s', call(2, 'a')],
      reply(2),
      told('end'),
    );
    expect(given(session, list)).toEqual(['up', 1, 'notifications/tools/list_changed']);
    // A client that lists the tools after each change would loop forever.
    expect(given(session, list)).toEqual([1]);
    expect(given(session, call(3, 'a'))).toEqual([3, 'end']);
  });

  test('is sent if the request was cancelled as well', () => {
    const cancel: Said = ['c2s', { method: 'notifications/cancelled', params: { requestId: 1 } }];
    const session = player(
      ...([['c2s', call(1, 'slow', 1)], progress(1, 1), cancel, progress(1, 2)] as Said[]),
      ...([['c2s', call(2, 'a')], told('of a'), reply(2)] as Said[]),
    );
    expect(given(session, call(5, 'slow', 5))).toEqual([
      [5, 1],
      [5, 2],
    ]);
    expect(given(session, call(6, 'a'))).toEqual(['of a', 6]);
  });

  test('is left out and counted if it asks the client', () => {
    const said: Said[] = [
      ...([
        ['c2s', call(1, 'a')],
        ['s2c', { id: 's1', method: 'sampling/createMessage' }],
      ] as Said[]),
      ...([
        ['c2s', { id: 's1', result: {} }],
        reply(1),
        ['s2c', { id: 's2', method: 'roots/list' }],
      ] as Said[]),
      ...([['s2c', { id: 's3', method: 'ping' }], ['c2s', call(2, 'b')], reply(2)] as Said[]),
    ];
    const counts = { 'sampling/createMessage': 1, 'roots/list': 1 };
    expect(recorded(...said).leftOut).toEqual(counts);
    const session = player(...said);
    expect(given(session, call(5, 'b'))).toEqual([5]);
    expect(session.leftOut).toEqual({});
    expect(given(session, call(6, 'a'))).toEqual([6]);
    expect(session.leftOut).toEqual(counts);
  });

  test('is kept up to a count and a size per request', () => {
    const many = Array.from({ length: 1200 }, (__, i) => told(`n${i}`));
    const session = player(['c2s', call(1, 'a')], ...many, reply(1));
    expect(given(session, call(2, 'a'))).toHaveLength(1001);
    expect(session.leftOut).toEqual({ 'notifications/message': 200 });
    const large = player(
      ['c2s', call(1, 'a')],
      told('x'.repeat(700_000)),
      told('y'.repeat(700_000)),
      reply(1),
    );
    expect(given(large, call(2, 'a'))).toHaveLength(2);
    expect(large.leftOut).toEqual({ 'notifications/message': 1 });
  });
});

test('omitted messages are listed with their methods', () => {
  expect(leftOutText({}, 'record')).toBeUndefined();
  expect(leftOutText({ 'sampling/createMessage': 2, 'roots/list': 1 }, 'record')).toMatch(
    /^3 messages that the server sent unasked \(2 sampling\/createMessage, 1 roots\/list\) are not sent in a replay/,
  );
});
