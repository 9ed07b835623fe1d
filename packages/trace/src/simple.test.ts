import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CAPABILITIES } from './model.ts';
import { validateTrace } from './schema.ts';
import { finalText, handoffs, queryText, toolNames } from './selectors.ts';
import { parseSimple, simpleTrace } from './simple.ts';
import { TraceError } from './trace-error.ts';

const issueOf = (input: unknown) => {
  const parsed = parseSimple(input);
  return parsed.ok ? undefined : parsed.issue;
};

describe('the simple form', () => {
  test.each([
    ['alone, it names the recording too', { query_id: 'q1' }, 'q1', 'q1'],
    ['beside the recording’s own id', { id: 'r1', query_id: 'q1' }, 'r1', 'q1'],
  ])('takes query_id for the query: %s', (_, ids, id, task) => {
    const trace = simpleTrace({ ...ids, answer: 'a' });
    expect([trace.id, trace.task?.id, trace.warnings]).toEqual([id, task, []]);
  });

  test('reads every field of the documented example', () => {
    const trace = simpleTrace(
      {
        id: 'q1',
        query: 'What does it cost?',
        answer: '20 dollars',
        tool_calls: [
          { name: 'search', args: { q: 'x' }, result: '20', error: null, latency_ms: 12 },
        ],
        llm_calls: [
          { model: 'gpt-4o-mini', input_tokens: 100, output_tokens: 20, cost_usd: 0.0001 },
        ],
        handoffs: [{ from: 'Triage', to: 'BillingAgent' }],
        context: ['retrieved text'],
        cost_usd: 0.0001,
        total_tokens: 120,
        latency_ms: 900,
        model: 'gpt-4o-mini',
        metadata: { team: 'a' },
      },
      { file: 'a.jsonl', line: 3 },
    );
    expect(trace).toMatchObject({
      schema: 'agentci.trace/1',
      id: 'q1',
      source: { format: 'simple', file: 'a.jsonl', line: 3 },
      task: { id: 'q1' },
      status: 'ok',
      final: { text: '20 dollars' },
      agents: [{ name: 'Triage' }, { name: 'BillingAgent' }],
      reported: {
        usage: { total: 120 },
        cost: { usd: 0.0001, source: 'reported' },
        durationMs: 900,
      },
      meta: { team: 'a', model: 'gpt-4o-mini' },
      warnings: [],
    });
    expect(trace.steps.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['retrieval', 1],
      ['llm', 2],
      ['tool', 3],
      ['handoff', 4],
    ]);
    expect(trace.steps[2]).toMatchObject({
      name: 'search',
      status: 'ok',
      args: { q: 'x' },
      meta: { durationMs: 12 },
    });
    expect([toolNames(trace), queryText(trace), finalText(trace)]).toEqual([
      ['search'],
      'What does it cost?',
      '20 dollars',
    ]);
  });

  test('a bare text is a trace with only an answer', () => {
    const trace = simpleTrace('Hello');
    expect(trace).toMatchObject({ status: 'ok', final: { text: 'Hello' }, steps: [] });
    const levels = CAPABILITIES.filter((capability) => trace.captured[capability] !== 'none');
    expect(levels).toEqual(['final']);
  });

  test.each([
    {
      when: 'tool_calls is absent',
      input: { answer: 'x' },
      captured: { toolCalls: 'none', toolArgs: 'none' },
    },
    {
      when: 'tool_calls is null',
      input: { answer: 'x', tool_calls: null },
      captured: { toolCalls: 'none' },
    },
    {
      when: 'tool_calls is empty',
      input: { answer: 'x', tool_calls: [] },
      captured: { toolCalls: 'full', toolArgs: 'full', toolResults: 'full', toolErrors: 'full' },
    },
    {
      when: 'one of two calls has arguments',
      input: { tool_calls: [{ name: 'a', args: {} }, { name: 'b' }] },
      captured: {
        toolCalls: 'full',
        toolArgs: 'partial',
        toolResults: 'none',
        toolErrors: 'none',
        final: 'none',
      },
    },
    {
      when: 'calls have results and errors',
      input: {
        tool_calls: [
          { name: 'a', result: 1 },
          { name: 'b', error: 'boom' },
        ],
      },
      captured: { toolResults: 'partial', toolErrors: 'full' },
    },
    {
      when: 'the answer is null',
      input: { query: 'q', answer: null },
      captured: { final: 'none' },
    },
    { when: 'the answer is empty text', input: { answer: '' }, captured: { final: 'full' } },
    {
      when: 'llm_calls is a number',
      input: { answer: 'x', llm_calls: 3 },
      captured: { llmCalls: 'partial' },
    },
    {
      when: 'llm_calls is empty',
      input: { answer: 'x', llm_calls: [] },
      captured: { llmCalls: 'full', usage: 'full' },
    },
    {
      when: 'context is empty',
      input: { answer: 'x', context: [] },
      captured: { retrieval: 'full' },
    },
    {
      when: 'handoffs is empty',
      input: { answer: 'x', handoffs: [] },
      captured: { handoffs: 'full' },
    },
    {
      when: 'only a total latency is given',
      input: { answer: 'x', latency_ms: 5 },
      captured: { timing: 'full' },
    },
  ])('reports capture levels if $when', ({ input, captured }) => {
    expect(simpleTrace(input).captured).toMatchObject(captured);
  });

  test.each([
    { call: { name: 'a' }, status: 'unknown' },
    { call: { name: 'a', result: null }, status: 'ok' },
    { call: { name: 'a', error: null }, status: 'ok' },
    { call: { name: 'a', error: false }, status: 'ok' },
    { call: { name: 'a', error: 'boom' }, status: 'error' },
    { call: { name: 'a', error: { message: 'boom', code: 5 } }, status: 'error' },
    { call: { name: 'a', status: 'denied' }, status: 'denied' },
  ])('a call $call has status $status', ({ call, status }) => {
    expect(simpleTrace({ tool_calls: [call] }).steps[0]).toMatchObject({ status });
  });

  test.each([
    { args: '{"a":1}', step: { args: { a: 1 } } },
    { args: "{'a': 1}", step: { argsRaw: "{'a': 1}" } },
    { args: `${'['.repeat(600)}${']'.repeat(600)}`, step: { argsRaw: expect.any(String) } },
  ])('reads arguments given as text', ({ args, step }) => {
    expect(simpleTrace({ tool_calls: [{ name: 'a', args }] }).steps[0]).toMatchObject(step);
  });

  test.each([
    { input: { answer: 'x', status: 'incomplete' }, status: 'incomplete' },
    { input: { answer: 'x', error: 'boom' }, status: 'error' },
    { input: { query: 'x', status: 'error' }, status: 'error' },
    { input: { query: 'x' }, status: 'unknown' },
  ])('status of $input is $status', ({ input, status }) => {
    expect(simpleTrace(input).status).toBe(status);
  });

  test.each([
    { answer: ['a', 'b'], text: 'a\nb' },
    { answer: { price: 20 }, text: '{"price":20}' },
    { answer: 20, text: '20' },
    { answer: false, text: 'false' },
  ])('an answer $answer reads as $text', ({ answer, text }) => {
    expect(finalText(simpleTrace({ answer }))).toBe(text);
  });
});

describe("AgentUnit's inputs in the simple form", () => {
  test('become message, handoff and event steps, agents and resources', () => {
    const trace = simpleTrace({
      answer: 'x',
      interactions: [
        {
          from_agent: 'a',
          to_agent: ['b', 'c'],
          interaction_type: 'delegation',
          response_time: 1.5,
          success: false,
        },
        { from_agent: 'a', to_agent: 'b', interaction_type: 'handoff', message_type: 'task' },
      ],
      handoffs: [{ success: false, handoff_time: 2 }, 'billing'],
      conflicts: [{ resolved: true, resolution_time: 3, topic: 't' }, {}],
      agent_roles: {
        a: { authority_level: 8, can_delegate: true, can_hand_off_to: ['b'] },
        b: 'reviewer',
      },
      resources: { energy_kwh: 0.001, carbon_kg: 0.5, cpu_percent: 40, memory_mb: 100 },
    });
    expect(trace.steps).toMatchObject([
      { kind: 'handoff', status: 'error', to: 'unknown', meta: { durationMs: 2000 } },
      { kind: 'handoff', status: 'ok', to: 'billing' },
      { kind: 'message', type: 'delegate', to: ['b', 'c'], status: 'error', responseMs: 1500 },
      { kind: 'message', messageType: 'task', meta: { interaction_type: 'handoff' } },
      {
        kind: 'event',
        name: 'conflict.raised',
        data: { resolved: true, resolutionMs: 3000, topic: 't' },
      },
      { kind: 'event', name: 'conflict.raised', data: { resolved: false } },
    ]);
    expect(trace.agents).toEqual([
      { id: 'a', name: 'a', authorityLevel: 8, canDelegate: true, canHandOffTo: ['b'] },
      { id: 'b', name: 'b', role: 'reviewer', authorityLevel: 5, canDelegate: false },
    ]);
    expect(trace.resources).toEqual([
      { t: 0, joules: 3600, co2g: 500, cpuPct: 40, rssMb: 100, source: 'measured' },
    ]);
    expect(trace.captured).toMatchObject({ messages: 'full', handoffs: 'full', agents: 'full' });
    expect(handoffs(trace)).toHaveLength(2);
  });
});

describe('a bad record', () => {
  test.each([
    { input: { tool_calls: { tool_name: 'x' } }, path: 'tool_calls' },
    { input: { tool_calls: ['search'] }, path: 'tool_calls[0]' },
    { input: { tool_calls: [{ name: 'a' }, { tool: 'x' }] }, path: 'tool_calls[1].name' },
    { input: { tool_calls: [{ name: '' }] }, path: 'tool_calls[0].name' },
    { input: { tool_calls: [{ name: 'a', latency_ms: -1 }] }, path: 'tool_calls[0].latency_ms' },
    { input: { answer: 'x', cost_usd: '0.1' }, path: 'cost_usd' },
    { input: { answer: 'x', total_tokens: Number.NaN }, path: 'total_tokens' },
    { input: { answer: 'x', latency_ms: Number.POSITIVE_INFINITY }, path: 'latency_ms' },
    { input: { answer: 'x', llm_calls: 'many' }, path: 'llm_calls' },
    { input: { answer: 'x', handoffs: [{ form: 'a' }] }, path: 'handoffs[0].to' },
    { input: { answer: 'x', context: [1] }, path: 'context[0]' },
    { input: { answer: 'x', metadata: [] }, path: 'metadata' },
    { input: { answer: 'x', status: 'great' }, path: 'status' },
    {
      input: { answer: 'x', interactions: [{ from_agent: '', to_agent: 'b' }] },
      path: 'interactions[0].from_agent',
    },
    { input: [], path: '' },
    { input: 5, path: '' },
    { input: null, path: '' },
  ])('is refused at "$path"', ({ input, path }) => {
    expect(issueOf(input)).toMatchObject({ code: 'TRACE_BAD_FIELD', path });
    expect(() => simpleTrace(input)).toThrow(TraceError);
  });

  test.each([{}, { foo: 1 }, { constructor: 1 }, JSON.parse('{"__proto__":{"answer":"x"}}')])(
    'without a key of the form is of an unknown format',
    (input) => {
      expect(issueOf(input)).toMatchObject({ code: 'TRACE_UNKNOWN_FORMAT' });
    },
  );

  test('an unknown key is a warning with the key that was meant', () => {
    const { warnings } = simpleTrace({
      answer: 'x',
      tool_call: [],
      tool_calls: [{ name: 'a', arg: {} }],
    });
    expect(warnings.map(({ code }) => code)).toEqual(['SIMPLE_UNKNOWN_KEY', 'SIMPLE_UNKNOWN_KEY']);
    expect(warnings[0]?.message).toContain('"tool_calls"');
    expect(warnings[1]?.message).toContain('"args"');
  });

  test('warnings are bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key${i}`, i]));
    expect(simpleTrace({ ...many, answer: 'x' }).warnings.length).toBeLessThanOrEqual(20);
  });

  test('values that JSON cannot hold are refused', () => {
    const cyclic: Record<string, unknown> = { answer: 'x' };
    cyclic.metadata = cyclic;
    let shared: unknown = [];
    for (let i = 0; i < 60; i++) shared = [shared, shared];
    for (const input of [
      cyclic,
      { answer: 'x', metadata: { n: 1n } },
      { answer: 'x', context: shared },
    ]) {
      expect(() => simpleTrace(input)).toThrow(expect.objectContaining({ code: 'TRACE_DAMAGED' }));
    }
  });

  test('prototype keys stay data', () => {
    const trace = simpleTrace(
      JSON.parse(
        '{"answer":"x","metadata":{"__proto__":{"polluted":1}},"agent_roles":{"__proto__":{},"constructor":{}}}',
      ),
    );
    expect(trace.agents.map(({ id }) => id)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(trace.meta.polluted).toBeUndefined();
  });
});

const text = fc.string({ unit: 'binary', maxLength: 30 });
const name = fc.string({ minLength: 1, maxLength: 10 });
const amount = fc.double({ min: 0, max: 1e9, noNaN: true });
/** Any record of the simple form, with random keys and values of the right type. */
const simpleRecord = fc
  .record(
    {
      id: name,
      query: text,
      answer: fc.oneof(text, fc.jsonValue()),
      tool_calls: fc.array(
        fc.record(
          {
            name,
            args: fc.dictionary(name, fc.jsonValue()),
            result: fc.jsonValue(),
            error: fc.option(text),
            latency_ms: amount,
          },
          { requiredKeys: ['name'] },
        ),
        { maxLength: 5 },
      ),
      llm_calls: fc.oneof(
        fc.nat(),
        fc.array(
          fc.record(
            { model: name, input_tokens: fc.nat(), output_tokens: fc.nat(), cost_usd: amount },
            { requiredKeys: [] },
          ),
        ),
      ),
      handoffs: fc.array(fc.record({ from: name, to: name })),
      context: fc.array(text),
      cost_usd: amount,
      total_tokens: fc.nat(),
      latency_ms: amount,
      model: name,
      metadata: fc.dictionary(name, fc.jsonValue()),
      interactions: fc.array(
        fc.record({ from_agent: name, to_agent: fc.oneof(name, fc.array(name, { minLength: 1 })) }),
      ),
      conflicts: fc.array(fc.record({ resolved: fc.boolean(), resolution_time: amount })),
      agent_roles: fc.dictionary(name, fc.record({ authority_level: fc.nat(10) })),
    },
    { requiredKeys: ['answer'] },
  )
  .map((record) => JSON.parse(JSON.stringify(record)) as Record<string, unknown>);

test('every simple record becomes a trace that the schema accepts, also after a round trip through JSON', () => {
  fc.assert(
    fc.property(simpleRecord, (record) => {
      const trace = simpleTrace(record, { file: 'f', line: 1 });
      const stored = JSON.parse(JSON.stringify(trace)) as unknown;
      expect(validateTrace(stored)).toEqual({ ok: true, trace });
    }),
  );
});

test('no JSON value at all makes the parser throw', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof parseSimple(value).ok === 'boolean'));
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom(
          'answer',
          'tool_calls',
          'llm_calls',
          'handoffs',
          'context',
          'resources',
          'agent_roles',
          'conflicts',
          'error',
          'id',
        ),
        fc.jsonValue(),
      ),
      (value) => typeof parseSimple(value).ok === 'boolean',
    ),
  );
});

test('an answer next to turns must be that of the last turn', () => {
  const turns = [
    { user: 'Hi', answer: 'Hello', tool_calls: [] },
    { user: 'Refund me', answer: 'I refuse.', tool_calls: [] },
  ];
  expect(simpleTrace({ turns, answer: 'I refuse.' }).conversation?.turns).toHaveLength(2);
  expect(() => simpleTrace({ turns, answer: 'Refunded' })).toThrow(/last turn/);
});
