import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Trace } from '@agentci/trace';
import { toolNames } from '@agentci/trace';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraceProblem } from '../adapter.ts';
import { readTraceItems } from './read-traces.ts';

async function read(source: string | Uint8Array) {
  const traces: Trace[] = [];
  const problems: TraceProblem[] = [];
  const skipped: string[] = [];
  for await (const item of readTraceItems(source, { onSkipped: (path) => skipped.push(path) })) {
    if (item.ok) traces.push(item.trace);
    else problems.push(item.problem);
  }
  return { traces, problems, skipped };
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const jsonl = (...values: unknown[]): Uint8Array =>
  bytes(
    values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n'),
  );

const events = (id: string) => [
  {
    id: 'e',
    invocationId: id,
    author: 'user',
    content: { role: 'user', parts: [{ text: 'Book it.' }] },
  },
  {
    id: 'e',
    invocationId: id,
    author: 'desk',
    content: {
      role: 'model',
      parts: [{ functionCall: { id: `adk-${id}`, name: 'book', args: {} } }],
    },
  },
  {
    id: 'e',
    invocationId: id,
    author: 'desk',
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: `adk-${id}`, name: 'book', response: { ok: 1 } } }],
    },
  },
  {
    id: 'e',
    invocationId: id,
    author: 'desk',
    content: { role: 'model', parts: [{ text: 'Booked.' }] },
  },
];

describe('a bad record is its own problem', () => {
  test('a foreign line among joined records is reported at its line, and the rest is partial', async () => {
    const { traces, problems } = await read(
      jsonl(...events('a').slice(0, 2), { hello: 'world' }, ...events('a').slice(2)),
    );
    expect(problems).toMatchObject([
      { code: 'TRACE_NOT_FORMAT', line: 3, message: expect.stringContaining('"hello"') },
    ]);
    expect(traces.map(toolNames)).toEqual([['book']]);
    expect(traces[0]).toMatchObject({
      captured: { toolCalls: 'partial' },
      warnings: [{ code: 'RECORDS_UNREADABLE' }],
    });
  });

  test('a foreign first line does not decide for the file', async () => {
    const { traces, problems } = await read(jsonl({ exported_by: 'me' }, ...events('a')));
    expect(problems).toMatchObject([{ code: 'TRACE_NOT_FORMAT', line: 1 }]);
    expect(traces.map(toolNames)).toEqual([['book']]);
  });

  test('a broken line is named, and the rest is read as partly known', async () => {
    const { traces, problems } = await read(
      jsonl(...events('a').slice(0, 3), '{"id": "e", "invoc', ...events('a').slice(3)),
    );
    expect(problems).toMatchObject([{ line: 4 }]);
    expect(traces).toMatchObject([{ captured: { toolCalls: 'partial' } }]);
  });

  test('whole runs in several formats are each read in their own', async () => {
    const { traces, problems } = await read(
      jsonl(
        { query: 'q', answer: 'a', tool_calls: [] },
        { contents: 1 },
        { schema_version: 'ATIF-v1.4', steps: [] },
      ),
    );
    expect(traces.map(({ source }) => source.format)).toEqual(['simple', 'atif']);
    expect(problems).toHaveLength(1);
  });

  test('quoted words in a text are not answers', async () => {
    const { traces, problems } = await read(bytes('# chat\n\n"flask"\n\nDo you want it?\n"yes"\n'));
    expect(traces).toEqual([]);
    expect(problems.length).toBeGreaterThan(0);
  });
});

describe('expectations are not runs', () => {
  test.each([
    ['an ADK eval set', { eval_set_id: 's', eval_cases: [{ eval_id: 'c', conversation: [] }] }],
    [
      'an ADK test file',
      [
        {
          query: 'Hi',
          expected_tool_use: [],
          expected_intermediate_agent_responses: [],
          reference: 'Hello',
        },
      ],
    ],
    [
      'DeepEval goldens',
      [{ input: 'Hi', expected_output: 'Hello', actual_output: null, retrieval_context: null }],
    ],
    [
      'conversational goldens',
      [{ scenario: 'A refund', expected_outcome: 'refunded', turns: null }],
    ],
    ['OpenAI evals samples', { input: [{ role: 'user', content: 'Hi' }], ideal: 'Hello' }],
    ['Inspect samples', { input: 'Hi', target: 'Hello', id: 1 }],
    [
      'LangSmith examples',
      { id: 'x', dataset_id: 'd', inputs: { q: 'Hi' }, outputs: { a: 'Hello' } },
    ],
    [
      'a pydantic_evals dataset',
      { name: 'd', cases: [{ name: 'c', inputs: 'Hi', expected_output: 'Hello' }] },
    ],
    [
      'a promptfoo config',
      { prompts: ['{{q}}'], providers: ['x'], tests: [{ vars: { q: 'Hi' } }] },
    ],
  ])('%s: refused, with the way out', async (_, value) => {
    const { traces, problems } = await read(bytes(JSON.stringify(value)));
    expect(traces).toEqual([]);
    expect(problems).toMatchObject([
      { code: 'TRACE_EXPECTATIONS', message: expect.stringContaining('record a run') },
    ]);
  });

  test('the actual run in the result of an ADK evaluation is one', async () => {
    const actual = {
      invocation_id: 'i',
      user_content: { role: 'user', parts: [{ text: 'Off.' }] },
      final_response: { role: 'model', parts: [{ text: 'Done.' }] },
      intermediate_data: { tool_uses: [{ name: 'switch_off', args: {} }] },
    };
    const result = {
      eval_set_result_id: 'r',
      eval_case_results: [
        {
          eval_id: 'c',
          eval_metric_result_per_invocation: [
            { actual_invocation: actual, expected_invocation: {} },
          ],
        },
      ],
    };
    expect((await read(bytes(JSON.stringify(result)))).traces.map(toolNames)).toEqual([
      ['switch_off'],
    ]);
  });
});

describe('a cassette', () => {
  const interaction = (uri: string, request: string, response: string) =>
    `- request:\n    method: POST\n    uri: ${uri}\n    body: '${request}'\n  response:\n    status: {code: 200}\n    body: {string: '${response}'}\n`;
  const chat = interaction(
    'https://api.openai.com/v1/chat/completions',
    '{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}',
    '{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}',
  );
  const telemetry = interaction(
    'https://user:pw@telemetry.example/v1/traces?key=SECRET',
    '{"spans":[1]}',
    '{}',
  );
  const unknownModel = interaction(
    'https://llm.example/generate',
    '{"messages":[{"role":"user","content":"Hi"}]}',
    '{"text":"rm"}',
  );

  test('with a request that is not a model call is read, and the request is named without its keys', async () => {
    const { traces, problems } = await read(
      bytes(`interactions:\n${telemetry}${chat}version: 1\n`),
    );
    expect(problems).toEqual([]);
    expect(traces).toMatchObject([
      {
        final: { text: 'Hello' },
        captured: { toolCalls: 'full' },
        warnings: [
          {
            code: 'REQUESTS_LEFT_OUT',
            message: expect.stringContaining('https://telemetry.example/v1/traces'),
          },
        ],
      },
    ]);
    expect(JSON.stringify(traces)).not.toMatch(/SECRET|pw@/);
  });

  test('with a request that may be a model call is only partly known', async () => {
    const { traces } = await read(bytes(`interactions:\n${unknownModel}${chat}version: 1\n`));
    expect(traces).toMatchObject([{ captured: { toolCalls: 'partial', llmCalls: 'partial' } }]);
  });

  test('without any model call is refused by its requests', async () => {
    const { problems } = await read(bytes(`interactions:\n${telemetry}version: 1\n`));
    expect(problems).toMatchObject([
      { message: expect.stringContaining('POST https://telemetry.example') },
    ]);
  });
});

describe('a folder', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentci-folder-'));
    const run = JSON.stringify({ query: 'q', answer: 'a', tool_calls: [] });
    await writeFile(join(folder, 'a.traj'), run);
    await writeFile(join(folder, 'b.jsonl'), run);
    await writeFile(join(folder, 'c.yaml'), 'interactions: []\nversion: 1\n');
    await writeFile(join(folder, 'agentci_spec.yaml'), 'agent: x\nqueries: []\n');
    await writeFile(join(folder, 'notes.md'), '# notes');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('reads trajectories and cassettes too, and reports a spec and notes as skipped', async () => {
    const { traces, skipped } = await read(folder);
    expect(traces).toHaveLength(2);
    expect(skipped.map((path) => path.slice(folder.length + 1))).toEqual([
      'agentci_spec.yaml',
      'notes.md',
    ]);
  });
});
