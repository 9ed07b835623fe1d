import { readTraces } from '@agentci/formats';
import { exitCode } from '@agentci/results';
import { parseSpec } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { evaluateQuery } from './evaluate-query.ts';
import { truncationOf } from './truncated-answer.ts';

const queryOf = (checks: string) =>
  parseSpec(`agent: a\nqueries:\n  - {id: q, query: hi${checks}}\n`, { file: 'spec.yaml' }).suite!
    .queries[0]!;

async function recorded(...records: unknown[]): Promise<Trace> {
  const bytes = Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));
  for await (const trace of readTraces(bytes)) return trace;
  throw new Error('no trace');
}

const chat = (finish_reason: string) => ({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Par' }, finish_reason }],
});

test.each([
  { what: 'the simple form', trace: () => simpleTrace({ answer: 'Par', finish_reason: 'length' }) },
  {
    what: 'a call of the simple form',
    trace: () =>
      simpleTrace({ answer: 'Par', llm_calls: [{ model: 'm', finish_reason: 'max_tokens' }] }),
  },
  { what: 'a chat completion', trace: () => recorded(chat('length')) },
  { what: 'a chat completion that was filtered', trace: () => recorded(chat('content_filter')) },
  {
    what: 'Anthropic',
    trace: () =>
      recorded({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        stop_reason: 'max_tokens',
        content: [{ type: 'text', text: 'Par' }],
      }),
  },
  {
    what: 'OpenAI Responses',
    trace: () =>
      recorded({
        id: 'r',
        object: 'response',
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        model: 'm',
        output: [
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Par' }] },
        ],
      }),
  },
  ...['MAX_TOKENS', 'SAFETY', 'RECITATION', 'PROHIBITED_CONTENT'].map((finishReason) => ({
    what: `Gemini with ${finishReason}`,
    trace: () =>
      recorded({
        candidates: [{ content: { role: 'model', parts: [{ text: 'Par' }] }, finishReason }],
        modelVersion: 'm',
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      }),
  })),
  {
    what: 'LangChain over Anthropic',
    trace: () =>
      recorded({
        messages: [
          { type: 'human', content: 'hi' },
          {
            type: 'ai',
            content: 'Par',
            tool_calls: [],
            response_metadata: { stop_reason: 'max_tokens' },
          },
        ],
      }),
  },
  {
    what: 'a recorded stream that ends early',
    trace: () =>
      recorded({
        id: 'c',
        object: 'chat.completion.chunk',
        model: 'm',
        choices: [{ index: 0, delta: { content: 'Par' }, finish_reason: null }],
      }),
  },
])('an answer that the model did not finish warns: $what', async ({ trace }) => {
  const result = await evaluateQuery({
    query: queryOf(', correctness: {expected_in_answer: [Par]}'),
    trace: await trace(),
  });
  expect(result.status).toBe('warn');
  expect(result.correctness.checks.map(({ id, status }) => [id, status])).toEqual([
    ['correctness.expected_in_answer', 'pass'],
    ['answer.truncated', 'warn'],
  ]);
  expect(result.correctness.messages.join()).toContain('the answer was cut off');
  const run = { results: [result], checks: [] };
  expect([exitCode(run), exitCode(run, { strict: true })]).toEqual([0, 1]);
});

test.each(['stop', 'end_turn', 'STOP', 'tool_calls', 'other words'])(
  'a reply that ended with %s is whole',
  (finish_reason) => {
    expect(truncationOf(simpleTrace({ answer: 'Paris', finish_reason }))).toBeUndefined();
  },
);

test('a call that was cut off before the last one is none of the answer', () => {
  const llm_calls = [
    { model: 'm', finish_reason: 'length' },
    { model: 'm', finish_reason: 'stop' },
  ];
  expect(truncationOf(simpleTrace({ answer: 'Paris', llm_calls }))).toBeUndefined();
});

test.each([
  { cut: [1], says: 'turn 1: the answer was cut off' },
  { cut: [2], says: 'turn 2: the answer was cut off' },
  { cut: [3], says: 'turn 3: the answer was cut off' },
  { cut: [1, 3], says: '; so was turn 3' },
])(
  'an answer that was cut off in any turn of a conversation is reported: $cut',
  ({ cut, says }) => {
    const turns = [1, 2, 3].map((turn) => ({
      user: `message ${turn}`,
      answer: `answer ${turn}`,
      ...(cut.includes(turn) ? { finish_reason: 'length' } : {}),
    }));
    expect(truncationOf(simpleTrace({ turns }))?.message).toContain(says);
  },
);

describe('the finding decides nothing by itself', () => {
  test('a query without checks is still a run in which nothing was checked', async () => {
    const result = await evaluateQuery({
      query: queryOf(''),
      trace: simpleTrace({ answer: 'Par', finish_reason: 'length' }),
    });
    expect(exitCode({ results: [result], checks: [] })).toBe(2);
  });

  test('a query whose only check could not be measured is still an error', async () => {
    const result = await evaluateQuery({
      query: queryOf(', cost: {max_cost_usd: 1}'),
      trace: simpleTrace({ answer: 'Par', finish_reason: 'length' }),
    });
    expect(result.status).toBe('error');
  });
});

test.each([
  { what: 'a chat completion', trace: () => recorded(chat('error')) },
  { what: 'the simple form', trace: () => simpleTrace({ answer: 'Par', finishReason: 'error' }) },
])('a reply in $what that ended with an error is not an answer', async ({ trace }) => {
  const result = await evaluateQuery({
    query: queryOf(', correctness: {expected_in_answer: [Par]}'),
    trace: await trace(),
  });
  expect(result).toMatchObject({
    status: 'error',
    error: { message: expect.stringContaining('finish_reason: error') },
  });
});
