import { readTraces } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { toolCalls, totals } from '@agentci/trace';
import { expect, test } from 'vitest';
import { fellShort } from '../../src/import/outcomes.ts';

/** The single trace of an inline recording. Several values become lines. */
async function traceOf(...lines: readonly unknown[]): Promise<Trace> {
  const traces: Trace[] = [];
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  for await (const trace of readTraces(Buffer.from(text))) traces.push(trace);
  expect(traces).toHaveLength(1);
  return traces[0]!;
}

const run = (id: string, run_type: string, more: object = {}) => ({
  id,
  trace_id: 'r',
  name: id,
  run_type,
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2026-01-01T00:00:01Z',
  ...(id === 'r' ? {} : { parent_run_id: 'r' }),
  ...more,
});
const reply = (more: object = {}) =>
  run('l', 'llm', {
    inputs: { messages: [[{ type: 'human', content: 'hi' }]] },
    outputs: {
      generations: [[{ text: 'done', message: { type: 'ai', content: 'done' }, ...more }]],
    },
  });
const tree = (...child_runs: readonly object[]) =>
  run('r', 'chain', { inputs: { input: 'hi' }, outputs: {}, child_runs });

test.each([
  {
    when: 'a node puts out a tool message',
    runs: [
      reply(),
      run('tools', 'chain', {
        inputs: {},
        outputs: { messages: [{ type: 'tool', name: 'wipe', tool_call_id: 'c', content: 'ok' }] },
      }),
    ],
  },
  {
    when: 'a generation ended in order to call tools',
    runs: [reply({ generation_info: { finish_reason: 'tool_calls' } })],
  },
  {
    when: 'a function that calls tools was given one',
    runs: [
      reply(),
      run('z', 'chain', { name: 'call_tool', inputs: { name: 'wipe' }, outputs: {} }),
    ],
  },
])('LangSmith: calls are partly known where $when', async ({ runs }) => {
  expect((await traceOf(tree(...runs))).captured.toolCalls).toBe('partial');
});

test('LangSmith: a tree of replies alone shows that nothing was called', async () => {
  expect((await traceOf(tree(reply()))).captured.toolCalls).toBe('full');
});

const model = {
  event: 'model',
  timestamp: '2026-05-01T10:00:00Z',
  model: 'm',
  input: [{ role: 'user', content: 'hi' }],
  output: {
    model: 'm',
    choices: [{ message: { role: 'assistant', content: 'done' }, stop_reason: 'stop' }],
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  },
};
const tool = {
  event: 'tool',
  id: '1',
  function: 'wipe',
  arguments: {},
  result: 'ok',
  timestamp: '2026-05-01T10:00:00Z',
};
const sample = (more: object = {}, events: readonly object[] = [], value: unknown = 'C') => ({
  version: 2,
  status: 'success',
  eval: { run_id: 'r', task: 't', model: 'm' },
  plan: {},
  samples: [
    {
      id: 's',
      epoch: 1,
      input: 'hi',
      target: 'x',
      messages: [{ role: 'user', content: 'hi' }],
      output: {},
      scores: { match: { value } },
      events: [...events, model],
      ...more,
    },
  ],
});

test.each([
  {
    when: 'messages hold a call that no event shows',
    log: sample({
      messages: [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: '1', function: 'wipe', arguments: {} }],
        },
      ],
    }),
  },
  {
    when: 'a call was approved',
    log: sample({}, [
      { event: 'approval', call: { id: '1', function: 'wipe' }, decision: 'approve' },
    ]),
  },
  {
    when: 'an attempt that was retried called a tool',
    log: sample({ error_retries: [{ message: 'x', events: [tool] }] }),
  },
  {
    when: 'a command ran in the sandbox without a tool',
    log: sample({}, [{ event: 'sandbox', action: 'exec', cmd: 'wipe' }]),
  },
  {
    when: 'the sample used more tokens than its events',
    log: sample({
      model_usage: { m: { input_tokens: 5000, output_tokens: 5, total_tokens: 5005 } },
    }),
  },
])('Inspect: calls are partly known where $when', async ({ log }) => {
  expect((await traceOf(log)).captured.toolCalls).toBe('partial');
});

test('Inspect: calls inside a subtask are calls', async () => {
  const trace = await traceOf(sample({}, [{ event: 'subtask', name: 'fork', events: [tool] }]));
  expect(toolCalls(trace).map(({ name }) => name)).toEqual(['wipe']);
});

test('Inspect: model calls of a scorer are not a sign of missing calls', async () => {
  const scored = [
    { event: 'span_begin', id: 'q', type: 'scorers' },
    { ...model, span_id: 'q' },
  ];
  const usage = { model_usage: { m: { input_tokens: 10, output_tokens: 10, total_tokens: 20 } } };
  expect((await traceOf(sample(usage, scored))).captured.toolCalls).toBe('full');
});

const generation = {
  id: 'g',
  type: 'GENERATION',
  name: 'chat',
  startTime: '2026-01-01T00:00:00Z',
  input: [{ role: 'user', content: 'hi' }],
  output: { role: 'assistant', content: 'done' },
  model: 'gpt-4o',
  usage: { input: 1, output: 1, total: 2 },
};
const langfuse = (more: object = {}, ...rest: readonly object[]) => ({
  id: 't',
  input: 'hi',
  output: 'done',
  observations: [generation, ...rest],
  ...more,
});
const work = (type: string, more: object = {}) => ({
  id: 'e',
  type,
  name: 'wipe',
  startTime: '2026-01-01T00:00:00Z',
  input: { x: 1 },
  output: 'ok',
  ...more,
});

test.each([
  { when: 'an event has input and output', extra: work('EVENT') },
  { when: 'a chain has input and output', extra: work('CHAIN') },
  { when: 'a span has an input and put out nothing', extra: work('SPAN', { output: null }) },
])('Langfuse: calls are partly known where $when', async ({ extra }) => {
  expect((await traceOf(langfuse({}, extra))).captured.toolCalls).toBe('partial');
});

test('Langfuse: a span whose metadata says that it is a tool is a call', async () => {
  const extra = work('SPAN', {
    input: null,
    output: null,
    metadata: { kind: 'tool', tool: 'wipe_all' },
  });
  expect(toolCalls(await traceOf(langfuse({}, extra))).map(({ name }) => name)).toEqual([
    'wipe_all',
  ]);
});

test('Langfuse: internal LangChain steps are not a sign of a call', async () => {
  expect(
    (await traceOf(langfuse({}, work('CHAIN', { name: 'RunnableLambda' })))).captured.toolCalls,
  ).toBe('full');
});

const exchange = (response: object) => ({
  request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  response,
});
const completion = (usage: object) =>
  exchange({
    id: 'c',
    object: 'chat.completion',
    model: 'gpt-4o',
    choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10, ...usage },
  });

test.each([
  { when: 'a router bills it', recording: completion({ cost: 3.5 }) },
  {
    when: 'the provider behind a router bills it',
    recording: completion({ cost: 0, cost_details: { upstream_inference_cost: 3.5 } }),
  },
  { when: 'a trace of Langfuse adds it up', recording: langfuse({ totalCost: 3.5 }) },
])('the cost is the billed cost when $when', async ({ recording }) => {
  expect(totals(await traceOf(recording)).costUsd).toEqual({ exact: true, value: 3.5 });
});

test('rounds of an Anthropic reply add up', async () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 50,
    iterations: [
      { input_tokens: 10_000, output_tokens: 500 },
      { input_tokens: 10, output_tokens: 50 },
    ],
  };
  const trace = await traceOf(
    exchange({
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [{ type: 'text', text: 'done' }],
      stop_reason: 'end_turn',
      usage,
    }),
  );
  expect(totals(trace).totalTokens).toMatchObject({ value: 10_560 });
});

test('tokens of helper models of Claude Code are part of the run’s', async () => {
  const own = { input_tokens: 5, output_tokens: 5 };
  const trace = await traceOf(
    { type: 'system', subtype: 'init', session_id: 'S', tools: ['Bash'], model: 'm' },
    {
      type: 'assistant',
      session_id: 'S',
      message: {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'done' }],
        stop_reason: 'end_turn',
        usage: own,
      },
    },
    {
      type: 'result',
      subtype: 'success',
      is_error: false,
      num_turns: 1,
      result: 'done',
      session_id: 'S',
      usage: own,
      modelUsage: {
        m: { inputTokens: 5, outputTokens: 5 },
        helper: { inputTokens: 500, outputTokens: 90 },
      },
    },
  );
  expect(totals(trace).totalTokens).toEqual({ exact: true, value: 600 });
  expect(trace.captured.toolCalls).toBe('full');
});

test.each([
  ['C', false],
  ['I', true],
  ['P', true],
  [1, false],
  [0.5, true],
  [true, false],
  [7, false],
])('a score of Inspect of %j falls short: %j', async (value, isShort) => {
  expect(fellShort(await traceOf(sample({}, [], value)))).toBe(isShort);
});

test('a trial of tau-bench that broke off counts with its reward', async () => {
  const trace = await traceOf([
    { task_id: 6, trial: 3, reward: 0, info: { error: 'boom' }, traj: [] },
  ]);
  expect(trace).toMatchObject({ status: 'incomplete', outcomes: [{ name: 'reward', value: 0 }] });
  expect(trace.warnings.map(({ code }) => code)).toContain('TRIAL_BROKE_OFF');
});
