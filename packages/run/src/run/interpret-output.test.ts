import { finalText, toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { interpretOutput } from './interpret-output.ts';

const asked = { id: 'q', query: 'hi' };
const read = (value: unknown, rest: object = {}) =>
  interpretOutput({ value, wallMs: 5, ...rest }, asked);
const recording = '{"answer": "Paris", "tool_calls": [{"name": "lookup"}]}';
const pretty = JSON.stringify(JSON.parse(recording), null, 2);
const chunks = ['Par', 'is'].map((content, i) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: i === 1 ? 'stop' : null }],
  }),
);

test('an answer that no stored trace could hold is refused, wherever it was given', async () => {
  await expect(read({ answer: 'z'.repeat(16_777_217) })).rejects.toThrow(
    'the answer has 16777217 characters, and a trace holds at most 16777216',
  );
  expect(finalText(await read({ answer: 'z'.repeat(16_777_216) }))).toHaveLength(16_777_216);
});

describe('a recording among lines of log', () => {
  test.each([
    { what: 'after one line', text: `loading\n${recording}`, lines: 1 },
    { what: 'before one line', text: `${recording}\ndone in 3 s`, lines: 1 },
    { what: 'between lines', text: `[INFO] loading\nready\n${recording}\n\nbye\n`, lines: 3 },
    { what: 'in several lines', text: `loading\n${pretty}\nbye`, lines: 2 },
    {
      what: 'after log lines in JSON',
      text: `{"level": "info"}\n{"level": "warn"}\n${recording}`,
      lines: 2,
    },
    { what: 'with line ends of Windows', text: `loading\r\n${recording}\r\nbye\r\n`, lines: 2 },
    { what: 'after a line with braces', text: `{loading}\n${recording}`, lines: 1 },
    { what: 'in a line of log', text: `INFO done: ${recording}`, lines: 1 },
    { what: 'in a line of log that goes on', text: `12:00 result ${recording} took 3 s`, lines: 2 },
    { what: 'before words of the same line', text: `${recording} INFO bye`, lines: 1 },
    { what: 'after an open bracket', text: `[1/2] loading\n[2/2] loading\n${recording}`, lines: 2 },
  ])('is found $what, and the noise is reported', async ({ text, lines }) => {
    const trace = await read(text);
    expect(finalText(trace)).toBe('Paris');
    expect(toolNames(trace)).toEqual(['lookup']);
    expect(trace.warnings).toMatchObject([
      { code: 'OUTPUT_NOISE', message: expect.stringMatching(new RegExp(`^${lines} line`)) },
    ]);
  });

  test('is found when it is several documents', async () => {
    const trace = await read(`loading\n${chunks.join('\n')}\n`);
    expect(finalText(trace)).toBe('Paris');
    expect(trace.source.format).toBe('openai-chat-completions');
  });

  test.each([
    {
      what: 'two recordings in lines of log',
      text: `a: ${recording}\nb: ${recording}`,
      message: /2 recordings/,
    },
    {
      what: 'two recordings',
      text: `${recording}\n${recording}`,
      message: /2 traces|2 recordings/,
    },
    {
      what: 'two recordings with a line between',
      text: `${recording}\nagain\n${recording}`,
      message: /2 recordings/,
    },
    {
      what: 'two recordings with JSON between',
      text: `${recording}\n{"level": "info"}\n${recording}`,
      message: /2 recordings/,
    },
    {
      what: 'a recording and then another document',
      text: `log\n${recording}\n{"level": "info"}`,
      message: /followed by another JSON document/,
    },
  ])('$what are an error', async ({ text, message }) => {
    await expect(read(text)).rejects.toMatchObject({
      name: 'AgentError',
      message: expect.stringMatching(message),
    });
  });

  test.each([
    'Paris',
    '[1] see the docs',
    `Send this:\n\`\`\`json\n${recording}\n\`\`\`\nand wait.`,
    'The payload is\n{"city": "Paris"}\nas you asked.',
    `The form is ${recording} in one line.`,
    '{"city": "Paris"}',
  ])('%j is an answer', async (text) => {
    const trace = await read(text);
    expect(finalText(trace)).toBe(text);
    expect(trace.warnings).toEqual([]);
  });

  test('a text of many beginnings takes no longer than its length', async () => {
    const started = performance.now();
    await read('{"a":\n'.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

test.each([{ answer: '' }, { answer: '\u200b', tool_calls: [{ name: 'lookup' }] }])(
  'an answer that shows nothing was not given: %j',
  async (value) => {
    const trace = await read(value);
    expect(finalText(trace)).toBeUndefined();
    expect(trace.captured.final).toBe('none');
    expect(trace.warnings).toMatchObject([{ code: 'ANSWER_EMPTY' }]);
  },
);

test.each([{ value: [] }, { value: '[]' }, { value: { answer: [] } }, { value: '{"answer": []}' }])(
  'an empty list is an answer: $value',
  async ({ value }) => {
    const trace = await read(value);
    expect(finalText(trace)).toBe('[]');
    expect(trace.captured.final).toBe('full');
  },
);

test.each([['["a","b"]'], [['a', 'b']]])(
  'a list that is not a recording is an answer: %j',
  async (value) => {
    expect(JSON.parse(finalText(await read(value))!)).toEqual(['a', 'b']);
  },
);

test.each(['finish_reason', 'stop_reason', 'finishReason', 'stopReason'])(
  '%s says why an answer ended',
  async (key) => {
    expect(await read({ answer: 'x', [key]: 'MAX_TOKENS' })).toMatchObject({
      final: { finish: 'length' },
      warnings: [],
    });
  },
);

test.each(['{"error": "no such user"}', { error: 'no such user' }])(
  'an error object is the answer if the spec accepts it: %j',
  async (value) => {
    const trace = await read(value, { acceptsErrors: true });
    expect(JSON.parse(finalText(trace)!)).toEqual({ error: 'no such user' });
    expect(trace.status).toBe('ok');
  },
);

test.each([
  [
    '{"answer":"No.","tool_calls":[{"id":"c","type":"function","function":{"name":"find","arguments":"{}"}}]}',
    ['find'],
  ],
])(
  'calls in the words of Chat Completions are calls, not part of the answer',
  async (printed, tools) => {
    const trace = await read(printed);
    expect(finalText(trace)).toBe('No.');
    expect(toolNames(trace)).toEqual(tools);
  },
);

test.each([
  '{"content":"npm install","tool_calls":[{"function":"npm install"}]}',
  '{"text":"npm install","tool_calls":[{"type":"function","function":{"name":"find","arguments":"{}"}}]}',
])(
  'a document with calls that cannot be read is an error, never the answer: %s',
  async (printed) => {
    await expect(read(printed)).rejects.toThrow('cannot be read');
  },
);

test.each([
  { what: 'by its id', recording: { id: 'b', answer: 'ok' }, refused: /has the id "b"/ },
  { what: 'by its question', recording: { query: 'ask b', answer: 'ok' }, refused: /"ask b"/ },
  { what: 'that is its own', recording: { id: 'a', query: 'ask a', answer: 'ok' } },
  { what: 'with an id that no query has', recording: { id: 'run-7', answer: 'ok' } },
])('a recording $what is $refused', async ({ recording, refused }) => {
  const others = { ids: new Set(['a', 'b']), texts: new Set(['ask a', 'ask b']) };
  const output = { value: JSON.stringify(recording), wallMs: 1 };
  const read = interpretOutput(output, { id: 'a', query: 'ask a', others });
  if (refused === undefined) await expect(read).resolves.toMatchObject({ task: { id: 'a' } });
  else await expect(read).rejects.toThrow(refused);
});
