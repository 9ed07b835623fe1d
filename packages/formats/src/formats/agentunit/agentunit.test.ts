import type { Trace } from '@agentci/trace';
import { contextOf, finalText, queryText, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { adapter } from './agentunit.ts';

const read = (value: unknown): Trace => {
  const [item] = [...adapter.read([{ value }])];
  if (item?.ok !== true) throw new Error(item?.problem.message);
  return item.trace;
};

describe('AgentUnit logs', () => {
  test('events become steps, the last response the answer', () => {
    const trace = read({
      events: [
        { type: 'agent_prompt', payload: { content: 'q' }, created_at: '2026-01-01T00:00:00' },
        {
          type: 'tool_call',
          payload: { name: 'a', args: { x: 1 }, result: 'r', cost: 0.1, privacy_epsilon: 0.5 },
          created_at: '2026-01-01T00:00:01Z',
        },
        { type: 'tool_call', payload: { name: 'b', status: 'success' } },
        { type: 'tool_call', payload: { name: 'c', status: 'timeout' } },
        { type: 'agent_response', payload: { content: 'first' } },
        { type: 'error', payload: { message: 'boom' } },
        {
          type: 'agent_response',
          payload: { content: 'last' },
          created_at: '2026-01-01T00:00:03+00:00',
        },
      ],
    });
    expect(trace.steps).toMatchObject([
      { kind: 'event', name: 'agent_prompt' },
      {
        kind: 'tool',
        name: 'a',
        status: 'ok',
        args: { x: 1 },
        result: 'r',
        meta: { cost: 0.1, privacy_epsilon: 0.5 },
      },
      { kind: 'tool', name: 'b', status: 'ok' },
      { kind: 'tool', name: 'c', status: 'error' },
      { kind: 'event', name: 'agent_response' },
      { kind: 'event', name: 'error', status: 'error', error: { message: 'boom' } },
      { kind: 'event', name: 'agent_response' },
    ]);
    expect([finalText(trace), queryText(trace), contextOf(trace)]).toEqual(['last', 'q', ['r']]);
    expect(trace.captured).toMatchObject({
      toolCalls: 'full',
      toolErrors: 'full',
      toolArgs: 'partial',
      toolResults: 'partial',
      timing: 'partial',
      final: 'full',
      llmCalls: 'none',
    });
    expect(totals(trace).latencyMs).toMatchObject({ exact: false, atLeast: 3000 });
  });

  test.each([
    { log: { events: [] }, captured: { toolCalls: 'full', toolArgs: 'full', final: 'none' } },
    { log: { metadata: {} }, captured: { toolCalls: 'none', toolErrors: 'none' } },
    { log: { interactions: [] }, captured: { messages: 'full', handoffs: 'none' } },
    { log: { agent_roles: { a: {} } }, captured: { agents: 'full' } },
  ])('of $log reports capture levels', ({ log, captured }) => {
    expect(read(log).captured).toMatchObject(captured);
  });

  test.each([
    { metadata: { cost: 0.5 }, reported: { cost: { usd: 0.5, source: 'reported' } } },
    { metadata: { usage: {} }, reported: undefined },
    {
      metadata: { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 0 } },
      reported: { usage: { input: 3, output: 4, total: 7 } },
    },
    {
      metadata: { usage: { prompt_tokens: 3, completion_tokens: 4 } },
      reported: { usage: { input: 3, output: 4 } },
    },
    { metadata: { cost: 'free' }, reported: undefined },
  ])('metadata $metadata reports $reported', ({ metadata, reported }) => {
    expect(read({ events: [], metadata }).reported).toEqual(reported);
  });

  test('readings become one resource sample', () => {
    const metadata = {
      energy_kwh: 0.002,
      carbon_kg: 0.001,
      cpu_percent: 50,
      memory_mb: 256,
      gpu_percent: 0,
      duration: 'x',
    };
    expect(read({ metadata }).resources).toEqual([
      { t: 0, joules: 7200, co2g: 1, cpuPct: 50, rssMb: 256, gpuPct: 0, source: 'measured' },
    ]);
    expect(read({ metadata: { duration: 1 } }).resources).toBeUndefined();
  });

  test('an unnamed tool is a warning', () => {
    const trace = read({ events: [{ type: 'tool_call', payload: {} }] });
    expect(trace).toMatchObject({
      steps: [{ name: 'unknown' }],
      warnings: [{ code: 'AGENTUNIT_UNNAMED_TOOL' }],
    });
  });

  test.each([
    5,
    [],
    {},
    { events: {} },
    { events: [1] },
    { events: [{ payload: 1 }] },
    { handoffs: 1 },
    { agent_roles: [] },
    { metadata: 'x' },
  ])('%j is a problem, not a crash', (value) => {
    expect([...adapter.read([{ value, file: 'f', line: 2 }])]).toMatchObject([
      { ok: false, problem: { file: 'f', line: 2 } },
    ]);
  });
});
