import type { Trace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TapEvidence } from '../mcp/tap-steps.ts';
import { capturedTrace } from './captured-trace.ts';
import type { ExchangeRecord } from './exchange-record.ts';

const AT = 1_767_603_600_000;

/** In milliseconds, as a busy machine notes it. */
interface Timing {
  readonly at: number;
  readonly tookMs: number;
  /** Time from the calls of the previous reply until the tap saw those of this one. */
  readonly tapMs: number;
}

/** How a provider writes a conversation in which each reply but the last asks for tools. */
interface Dialect {
  readonly route: string;
  readonly provider: string;
  readonly uri: string;
  readonly request: (rounds: readonly (readonly string[])[], thread: string) => object;
  readonly reply: (calls: readonly string[], round: number, thread: string) => object;
}

const idOf = (thread: string, round: number, i: number): string => `${thread}-${round}-${i}`;
const chatCalls = (calls: readonly string[], round: number, thread: string) =>
  calls.map((name, i) => ({
    id: idOf(thread, round, i),
    type: 'function',
    function: { name, arguments: '{}' },
  }));

const CHAT: Dialect = {
  route: 'chat',
  provider: 'openai',
  uri: 'https://api.openai.com/v1/chat/completions',
  request: (rounds, thread) => ({
    model: 'm',
    messages: [
      { role: 'user', content: `Refund the order (${thread}).` },
      ...rounds.flatMap((calls, round) => [
        { role: 'assistant', content: null, tool_calls: chatCalls(calls, round, thread) },
        ...calls.map((_, i) => ({
          role: 'tool',
          tool_call_id: idOf(thread, round, i),
          content: 'ok',
        })),
      ]),
    ],
  }),
  reply: (calls, round, thread) => ({
    id: `${thread}-${round}`,
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message:
          calls.length === 0
            ? { role: 'assistant', content: 'Done.' }
            : {
                role: 'assistant',
                content: null,
                tool_calls: chatCalls(calls, round, thread),
              },
        finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
};

const MESSAGES: Dialect = {
  route: 'messages',
  provider: 'anthropic',
  uri: 'https://api.anthropic.com/v1/messages',
  request: (rounds, thread) => ({
    model: 'm',
    messages: [
      { role: 'user', content: `Refund the order (${thread}).` },
      ...rounds.flatMap((calls, round) => [
        {
          role: 'assistant',
          content: calls.map((name, i) => ({
            type: 'tool_use',
            id: idOf(thread, round, i),
            name,
            input: {},
          })),
        },
        {
          role: 'user',
          content: calls.map((_, i) => ({
            type: 'tool_result',
            tool_use_id: idOf(thread, round, i),
            content: 'ok',
          })),
        },
      ]),
    ],
  }),
  reply: (calls, round, thread) => ({
    id: `${thread}-${round}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content:
      calls.length === 0
        ? [{ type: 'text', text: 'Done.' }]
        : calls.map((name, i) => ({
            type: 'tool_use',
            id: idOf(thread, round, i),
            name,
            input: {},
          })),
    stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
};

/** Gemini gives calls no ids. */
const GENERATE: Dialect = {
  route: 'generate',
  provider: 'gemini',
  uri: 'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent',
  request: (rounds, thread) => ({
    contents: [
      { role: 'user', parts: [{ text: `Refund the order (${thread}).` }] },
      ...rounds.flatMap((calls) => [
        { role: 'model', parts: calls.map((name) => ({ functionCall: { name, args: {} } })) },
        {
          role: 'user',
          parts: calls.map((name) => ({
            functionResponse: { name, response: { output: 'ok' } },
          })),
        },
      ]),
    ],
  }),
  reply: (calls) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts:
            calls.length === 0
              ? [{ text: 'Done.' }]
              : calls.map((name) => ({ functionCall: { name, args: {} } })),
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'm',
  }),
};

/** Newer models assign ids, but clients do not send them back. */
const GENERATE_IDS: Dialect = {
  ...GENERATE,
  reply: (calls, round, thread) => {
    const reply = GENERATE.reply(calls, round, thread);
    const parts = calls.map((name, i) => ({
      functionCall: { id: idOf(thread, round, i), name, args: {} },
    }));
    const content = { role: 'model', parts };
    return calls.length === 0
      ? reply
      : { ...reply, candidates: [{ content, finishReason: 'STOP' }] };
  },
};

type Rounds = readonly (readonly string[])[];

const exchangesOf = (
  { request, reply, ...dialect }: Dialect,
  rounds: Rounds,
  { timings, thread = 'a' }: { timings: readonly Timing[]; thread?: string },
): ExchangeRecord[] =>
  [...rounds, []].map((calls, round) => ({
    schema: 'agentci.exchange/1',
    run: 'r',
    i: round + 1,
    at: AT + timings[round]!.at,
    ...dialect,
    method: 'POST',
    request: JSON.stringify(request(rounds.slice(0, round), thread)),
    response: {
      status: 200,
      headers: {},
      chunks: [[0, JSON.stringify(reply(calls, round, thread))]],
    },
    end_ms: timings[round]!.tookMs,
    complete: true,
  }));

const tapOf = (rounds: Rounds, timings: readonly Timing[]): TapEvidence => {
  let at = AT;
  const calls = rounds.flatMap((names, round) => {
    at += timings[round]!.tapMs;
    return names.map((name) => ({ name, at }));
  });
  return {
    server: 'orders',
    records: calls.flatMap(({ name, at }, i) => {
      const ts = new Date(at).toISOString();
      return [
        {
          value: {
            ts,
            dir: 'c2s',
            message: {
              jsonrpc: '2.0',
              id: i,
              method: 'tools/call',
              params: { name, arguments: {} },
            },
          },
        },
        {
          value: {
            ts,
            dir: 's2c',
            message: {
              jsonrpc: '2.0',
              id: i,
              result: { content: [{ type: 'text', text: 'ok' }] },
            },
          },
        },
      ];
    }),
  };
};

const traceOf = (exchanges: readonly ExchangeRecord[], taps: readonly TapEvidence[]): Trace => {
  const [item] = capturedTrace({ exchanges: exchanges.map((value) => ({ value })), taps });
  if (item?.ok !== true) throw new Error(JSON.stringify(item));
  return item.trace;
};

const stepsOf = ({ steps }: Trace): string[] =>
  steps.map((step) => (step.kind === 'tool' ? step.name : step.kind));

const rounds = fc.array(
  fc.uniqueArray(fc.constantFrom('lookup', 'refund', 'notify', 'close'), {
    minLength: 1,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 6 },
);
const timings = fc.array(
  fc.record({
    at: fc.nat(20),
    tookMs: fc.double({ min: 0, max: 20, noNaN: true }),
    tapMs: fc.nat(5),
  }),
  { minLength: 7, maxLength: 7 },
);

describe('one conversation under any clocks', () => {
  test.each([
    { provider: 'OpenAI', dialect: CHAT },
    { provider: 'Anthropic', dialect: MESSAGES },
    { provider: 'Gemini', dialect: GENERATE },
    { provider: 'Gemini with ids', dialect: GENERATE_IDS },
  ])('is one order of steps, as $provider writes it', ({ dialect }) => {
    fc.assert(
      fc.property(rounds, timings, fc.boolean(), (said, at, isTapped) => {
        const taps = isTapped ? [tapOf(said, at)] : [];
        const trace = traceOf(exchangesOf(dialect, said, { timings: at }), taps);
        expect(stepsOf(trace)).toEqual([...said.flatMap((calls) => ['llm', ...calls]), 'llm']);
      }),
    );
  });

  test('is one order in replay, whichever of two conversations asks first', () => {
    const order = fc.infiniteStream(fc.boolean());
    fc.assert(
      fc.property(rounds, rounds, timings, timings, order, (one, two, at, later, isFirst) => {
        const queues = [
          exchangesOf(CHAT, one, { timings: at, thread: 'a' }),
          exchangesOf(CHAT, two, { timings: later, thread: 'b' }),
        ];
        const recorded = queues.flat().map((exchange, i) => ({ ...exchange, recorded_i: i + 1 }));
        const waiting = [recorded.slice(0, one.length + 1), recorded.slice(one.length + 1)];
        const arrived: ExchangeRecord[] = [];
        while (waiting.some((queue) => queue.length > 0)) {
          const [first, second] = isFirst.next().value ? waiting : waiting.toReversed();
          const next = first!.shift() ?? second!.shift()!;
          arrived.push({ ...next, i: arrived.length + 1 });
        }
        const expected = [one, two].flatMap((said) => [
          ...said.flatMap((calls) => ['llm', ...calls]),
          'llm',
        ]);
        expect(stepsOf(traceOf(arrived, []))).toEqual(expected);
      }),
    );
  });
});
