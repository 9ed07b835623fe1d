import type { Trace } from '@agentci/trace';
import { finalText, handoffs, queryText, toolCalls, totals, validateTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildTrace } from './build-trace.ts';
import type { Draft, DraftLlm, DraftStep, DraftTool, Turn } from './draft.ts';

const ALL: Draft['records'] = {
  toolCalls: 'full',
  toolArgs: 'full',
  toolResults: 'full',
  toolErrors: 'full',
  llmCalls: 'full',
};
const build = (steps: readonly DraftStep[], more: Partial<Draft> = {}): Trace =>
  buildTrace({ source: { format: 'test' }, steps, records: ALL, ...more }, { value: undefined });

const says = (text: string, calls: Turn['calls'] = []): Turn => ({
  role: 'assistant',
  parts: text === '' ? [] : [{ type: 'text', text }],
  ...(calls.length === 0 ? {} : { calls }),
});
const asks = (text: string): Turn => ({ role: 'user', parts: [{ type: 'text', text }] });
const answers = (result: unknown, more: Partial<Turn> = {}): Turn => ({
  role: 'tool',
  parts: [],
  result,
  ...more,
});
const llm = (more: Partial<DraftLlm> = {}): DraftLlm => ({ kind: 'llm', ...more });
const tool = (name: string, more: Partial<DraftTool> = {}): DraftTool => ({
  kind: 'tool',
  name,
  ...more,
});

const called = (trace: Trace): string[] =>
  toolCalls(trace).map(({ name, args }) => `${name}(${JSON.stringify(args) ?? '-'})`);

describe('records of one call', () => {
  test.each([
    {
      when: 'a span and the message that asked for it share an id',
      steps: [
        llm({ output: says('', [{ id: 'c1', name: 'look', args: { q: 1 } }]) }),
        tool('look', { callId: 'c1' }),
      ],
      calls: ['look({"q":1})'],
    },
    {
      when: "the client's span and the server's span are nested",
      steps: [
        tool('look', { key: 'a', args: { q: 1 } }),
        tool('look', { key: 'b', parent: 'a', evidence: ['mcp'] }),
      ],
      calls: ['look({"q":1})'],
    },
    {
      when: 'the span has an id the message does not know',
      steps: [
        llm({ output: says('', [{ name: 'look', args: { q: 1 } }]) }),
        tool('look', { callId: 'own-1' }),
      ],
      calls: ['look({"q":1})'],
    },
    {
      when: 'the server is part of the name in one of them',
      steps: [
        llm({ output: says('', [{ id: 'c1', name: 'mcp__files__read', args: {} }]) }),
        tool('mcp__files__read', { callId: 'c1' }),
      ],
      calls: ['read({})'],
    },
  ])('are one step when $when', ({ steps, calls }) => {
    expect(called(build(steps))).toEqual(calls);
  });

  test.each([
    {
      when: 'a tool calls itself',
      steps: [
        tool('walk', { key: 'a', callId: '1' }),
        tool('walk', { key: 'b', parent: 'a', callId: '2' }),
      ],
      count: 2,
    },
    {
      when: 'the same tool is called twice in a row',
      steps: [tool('look'), tool('look')],
      count: 2,
    },
    {
      when: 'two ids differ',
      steps: [
        llm({ output: says('', [{ id: 'c1', name: 'look' }]) }),
        tool('look', { callId: 'c2' }),
      ],
      count: 2,
    },
  ])('stay two when $when', ({ steps, count }) => {
    expect(toolCalls(build(steps))).toHaveLength(count);
  });

  test('keep the evidence of both, and the error of either', () => {
    const trace = build([
      llm({ output: says('', [{ id: 'c1', name: 'look' }]) }),
      tool('look', { key: 'a', callId: 'c1', status: 'ok' }),
      tool('look', {
        key: 'b',
        parent: 'a',
        callId: 'c1',
        status: 'error',
        error: { message: 'no' },
        evidence: ['mcp'],
      }),
    ]);
    expect(toolCalls(trace)).toMatchObject([
      { status: 'error', error: { message: 'no' }, evidence: ['span', 'mcp', 'message'] },
    ]);
  });

  test('never let a message replace what the call itself recorded', () => {
    const trace = build([
      llm({ output: says('', [{ id: 'c1', name: 'look', args: { q: 'asked' } }]) }),
      tool('look', { callId: 'c1', args: { q: 'ran' }, result: 'ran', status: 'ok' }),
      llm({
        input: [answers('told', { callId: 'c1', status: 'error' })],
        inputIsDelta: true,
        output: says('done'),
      }),
    ]);
    expect(toolCalls(trace)).toMatchObject([{ args: { q: 'ran' }, result: 'ran', status: 'ok' }]);
  });
});

describe('calls only messages tell of', () => {
  test('become steps after the reply that requested them, with their results', () => {
    const trace = build([
      llm({
        input: [asks('hi')],
        output: says('', [
          { id: 'a', name: 'one' },
          { id: 'b', name: 'two' },
        ]),
      }),
      llm({
        inputIsDelta: true,
        input: [answers(2, { callId: 'b' }), answers(1, { callId: 'a', status: 'error' })],
        output: says('done'),
      }),
    ]);
    expect(trace.steps.map(({ kind }) => kind)).toEqual(['llm', 'tool', 'tool', 'llm']);
    expect(toolCalls(trace)).toMatchObject([
      { name: 'one', result: 1, status: 'error', requestedBy: 's1', turn: 1 },
      { name: 'two', result: 2, status: 'unknown', turn: 1 },
    ]);
  });

  test('are not counted again when a later request repeats the history', () => {
    const history: Turn[] = [
      asks('hi'),
      says('', [{ name: 'look' }]),
      answers('first'),
      says('', [{ name: 'look' }]),
      answers('second'),
    ];
    const trace = build([
      llm({ input: history.slice(0, 1), output: history[1]! }),
      llm({ input: history.slice(0, 3), output: history[3]! }),
      llm({ input: history, output: says('done') }),
    ]);
    expect(toolCalls(trace).map(({ result }) => result)).toEqual(['first', 'second']);
  });

  test('without ids take the results of their name in order', () => {
    const trace = build([
      llm({ output: says('', [{ name: 'a' }, { name: 'b' }, { name: 'a' }]) }),
      llm({
        inputIsDelta: true,
        input: [
          answers('b1', { name: 'b' }),
          answers('a1', { name: 'a' }),
          answers('a2', { name: 'a' }),
        ],
        output: says('x'),
      }),
    ]);
    expect(toolCalls(trace).map(({ name, result }) => `${name} ${result}`)).toEqual([
      'a a1',
      'b b1',
      'a a2',
    ]);
  });

  test('are known from a result alone, if it names its tool', () => {
    expect(called(build([], { turns: [answers('x', { name: 'look', callId: 'c9' })] }))).toEqual([
      'look(-)',
    ]);
  });
});

describe('the order of steps', () => {
  test('is that of the message for calls that started in the same microsecond', () => {
    const trace = build([
      llm({
        t0: 1,
        t1: 2,
        output: says('', [
          { id: 'a', name: 'one' },
          { id: 'b', name: 'two' },
        ]),
      }),
      tool('two', { callId: 'b', t0: 5 }),
      tool('one', { callId: 'a', t0: 5 }),
    ]);
    expect(toolCalls(trace).map(({ name }) => name)).toEqual(['one', 'two']);
  });

  test('puts parents before their children in any export order', () => {
    const trace = build([
      tool('inner', { key: 'b', parent: 'a' }),
      { kind: 'agent', name: 'A', key: 'a' },
    ]);
    expect(trace.steps).toMatchObject([
      { kind: 'agent' },
      { kind: 'tool', parent: 's1', agent: 'A' },
    ]);
  });

  test('does not depend on the order of spans in the file when their times differ', () => {
    const spans: DraftStep[] = [
      { kind: 'agent', name: 'A', key: 'root', t0: 0, t1: 100, output: says('done') },
      llm({
        key: 'l1',
        parent: 'root',
        t0: 1,
        t1: 2,
        output: says('', [{ id: 'x', name: 'one' }]),
        usage: { input: 1, output: 2 },
      }),
      tool('one', { key: 't1', parent: 'root', callId: 'x', t0: 3, t1: 4, status: 'ok' }),
      llm({
        key: 'l2',
        parent: 'root',
        t0: 5,
        t1: 6,
        output: says('done'),
        usage: { input: 3, output: 4 },
      }),
    ];
    const expected = build(spans);
    fc.assert(
      fc.property(fc.shuffledSubarray(spans, { minLength: spans.length }), (shuffled) => {
        expect(build(shuffled)).toEqual(expected);
      }),
    );
  });

  test('survives parents that are each other’s children', () => {
    const trace = build([
      tool('a', { key: '1', parent: '2' }),
      tool('b', { key: '2', parent: '1' }),
      tool('c', { key: '3', parent: '3' }),
    ]);
    expect(toolCalls(trace)).toHaveLength(3);
    expect(validateTrace(trace)).toMatchObject({ ok: true });
  });
});

describe('model calls', () => {
  test('count once when a generation holds a step that holds the inference', () => {
    const usage = { input: 10, output: 5 };
    const trace = build([
      llm({ key: 'g', usage }),
      llm({ key: 's', parent: 'g', usage }),
      llm({ key: 'i', parent: 's', usage }),
    ]);
    expect(totals(trace)).toMatchObject({ llmCalls: { value: 1 }, totalTokens: { value: 15 } });
  });

  test('around several calls are their sum, and dropped', () => {
    const trace = build([
      llm({ key: 'g', usage: { input: 30, output: 12 } }),
      llm({ key: 'a', parent: 'g', usage: { input: 10, output: 5 } }),
      llm({ key: 'b', parent: 'g', usage: { input: 20, output: 7 } }),
    ]);
    expect(totals(trace)).toMatchObject({ llmCalls: { value: 2 }, totalTokens: { value: 42 } });
  });

  test('count if they have numbers, unless their agent counts more', () => {
    const agent: DraftStep = {
      kind: 'agent',
      name: 'A',
      key: 'a',
      usage: { input: 99, output: 1 },
    };
    const all = build([
      agent,
      llm({ parent: 'a', usage: { input: 100, output: 2 }, output: says('x') }),
    ]);
    expect(totals(all).totalTokens).toEqual({ exact: true, value: 102 });
    const some = build([
      agent,
      llm({ parent: 'a', usage: { input: 1, output: 2 }, output: says('x') }),
    ]);
    expect(totals(some).totalTokens).toEqual({ exact: true, value: 100 });
    expect(some.captured).toMatchObject({ toolCalls: 'partial', llmCalls: 'partial' });
    expect(totals(build([agent], { records: {} })).totalTokens).toEqual({
      exact: true,
      value: 100,
    });
  });

  test('that do not add up to what the source reports are worth a warning', () => {
    const trace = build([llm({ usage: { input: 20, output: 7 } })], {
      reported: { usage: { input: 100, output: 7 } },
    });
    expect(trace.warnings).toMatchObject([{ code: 'USAGE_DRIFT' }]);
    expect(totals(trace).totalTokens).toEqual({ exact: true, value: 107 });
  });
});

describe('handoffs', () => {
  const agents = [
    { id: 'Triage', name: 'Triage' },
    { id: 'BillingAgent', name: 'BillingAgent' },
  ];
  test.each([
    {
      when: 'a transfer tool is called',
      steps: [tool('transfer_to_billing_agent', { agent: 'Triage', status: 'ok' })],
      found: ['Triage > BillingAgent pass'],
    },
    {
      when: 'a sub-agent is started by its type',
      steps: [tool('Task', { agent: 'Triage', args: { subagent_type: 'BillingAgent' } })],
      found: ['Triage > BillingAgent return'],
    },
    {
      when: 'a tool names the agent that takes over',
      steps: [tool('handOff', { agent: 'Triage', args: { toAgent: 'Billing agent' } })],
      found: ['Triage > BillingAgent pass'],
    },
    {
      when: 'a task is delegated',
      steps: [tool('delegate_task', { agent: 'Triage', args: { agent_name: 'billing_agent' } })],
      found: ['Triage > BillingAgent return'],
    },
    {
      when: 'an agent runs inside a tool call',
      steps: [
        tool('ask', { key: 't', agent: 'Triage' }),
        { kind: 'agent', name: 'BillingAgent', parent: 't' } as DraftStep,
      ],
      found: ['Triage > BillingAgent return'],
    },
    {
      when: 'the transfer failed',
      steps: [tool('transfer_to_billing_agent', { agent: 'Triage', status: 'error' })],
      found: [],
    },
    {
      when: 'it was also recorded explicitly',
      steps: [
        tool('transfer_to_billing_agent', { agent: 'Triage' }),
        { kind: 'handoff', from: 'Triage', to: 'BillingAgent', mode: 'pass' } as DraftStep,
      ],
      found: ['Triage > BillingAgent pass'],
    },
    {
      when: 'a tool only sounds like one',
      steps: [tool('transfer_money', { agent: 'Triage' })],
      found: [],
    },
  ])('are $found when $when', ({ steps, found }) => {
    const trace = build(steps, { agents });
    expect(handoffs(trace).map(({ from, to, mode }) => `${from} > ${to} ${mode}`)).toEqual(found);
  });

  test('are inferred from a change of speaker only if the format asks for it, with a warning', () => {
    const steps = [llm({ agent: 'A', output: says('a') }), llm({ agent: 'B', output: says('b') })];
    expect(handoffs(build(steps))).toEqual([]);
    const trace = build(steps, { speakersHandOff: true });
    expect(handoffs(trace)).toMatchObject([{ from: 'A', to: 'B', mode: 'unknown' }]);
    expect(trace.captured.handoffs).toBe('partial');
    expect(trace.warnings).toMatchObject([{ code: 'HANDOFF_GUESSED' }]);
  });
});

describe('the answer', () => {
  test.each([
    {
      when: 'the source says it',
      steps: [llm({ output: says('draft') })],
      more: { final: { text: 'said' } },
      answer: 'said',
    },
    {
      when: 'the outermost agent put it out',
      steps: [
        { kind: 'agent', name: 'A', key: 'a', output: says('done') },
        llm({ parent: 'a', output: says('thinking') }),
      ] as DraftStep[],
      more: {},
      answer: 'done',
    },
    {
      when: 'the last reply asks for nothing',
      steps: [llm({ output: says('', [{ name: 't' }]) }), llm({ output: says('done') })],
      more: {},
      answer: 'done',
    },
    {
      when: 'the run ends with a call',
      steps: [llm({ output: says('early') }), llm({ output: says('let me see', [{ name: 't' }]) })],
      more: {},
      answer: undefined,
    },
    {
      when: 'only a sub-agent spoke last',
      steps: [
        llm({ output: says('mine') }),
        tool('ask', { key: 't' }),
        llm({ parent: 't', output: says('its') }),
      ] as DraftStep[],
      more: {},
      answer: 'mine',
    },
  ])('is $answer when $when', ({ steps, more, answer }) => {
    expect(finalText(build(steps, more))).toBe(answer);
  });

  test("belongs to the question: the user's last message before the model first spoke", () => {
    expect(
      queryText(build([llm({ input: [asks('old'), says('x'), asks('new')], output: says('y') })])),
    ).toBe('new');
  });
});

describe('capture levels', () => {
  test.each([
    {
      when: 'replies have no content and no call was recorded as run',
      steps: [llm({ model: 'm' })],
      level: 'none',
    },
    {
      when: 'a reply ended to call tools that are not there',
      steps: [llm({ output: says('x') }), llm({ finish: 'tool_calls', output: says('y') })],
      level: 'partial',
    },
    {
      when: 'calls were recorded as run, though replies were not',
      steps: [llm({}), tool('t')],
      level: 'full',
    },
    {
      when: 'everything is there and nothing was called',
      steps: [llm({ output: says('x') })],
      level: 'full',
    },
  ])('of tool calls is $level when $when', ({ steps, level }) => {
    expect(build(steps as DraftStep[]).captured.toolCalls).toBe(level);
  });

  test('of arguments, results and errors is what the calls have', () => {
    const trace = build([
      tool('a', { args: {}, result: 1, status: 'ok' }),
      tool('b', { status: 'error', error: {} }),
      tool('c'),
    ]);
    expect(trace.captured).toMatchObject({
      toolCalls: 'full',
      toolArgs: 'partial',
      toolResults: 'partial',
      toolErrors: 'partial',
    });
  });

  test('is never more than the format can record', () => {
    expect(build([tool('a', { args: {} })], { records: {} }).captured).toMatchObject({
      toolCalls: 'partial',
      toolArgs: 'partial',
    });
  });
});

test('forty thousand calls of one tool are joined one by one', () => {
  const steps = Array.from({ length: 40_000 }, () => tool('t'));
  const calls = Array.from({ length: 40_000 }, () => ({ name: 't' }));
  const results = Array.from({ length: 40_000 }, (_, i) => answers(i));
  const trace = build([
    llm({ output: says('', calls) }),
    ...steps,
    llm({ inputIsDelta: true, input: results, output: says('x') }),
  ]);
  expect(toolCalls(trace)).toHaveLength(40_000);
  expect(toolCalls(trace).at(-1)?.result).toBe(39_999);
});

test('a run with too many steps is refused, with the number and the limit', () => {
  const steps = Array.from({ length: 100_001 }, () => tool('t'));
  expect(() => build(steps)).toThrow(/100001 steps, at most 100000/);
});

test('an id that is empty is none, and a duration beyond all numbers is not known', () => {
  const trace = build([tool('t')], { id: '', reported: { durationMs: 1e308 * 1000 } });
  expect(trace.id).not.toBe('');
  expect(trace.reported?.durationMs).toBeUndefined();
});
