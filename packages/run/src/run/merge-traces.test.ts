import type { ToolStep, Trace } from '@agentci/trace';
import { nothingCaptured, simpleTrace, toolNames } from '@agentci/trace';
import { describe, expect, it } from 'vitest';
import { mergeTraces } from './merge-traces.ts';

const tool = (name: string, more: Partial<ToolStep> = {}): ToolStep => ({
  id: 's',
  seq: 1,
  kind: 'tool',
  name,
  status: 'ok',
  by: 'client',
  evidence: ['message'],
  ...more,
});
const seen = (...steps: ToolStep[]): Trace => ({
  ...simpleTrace('words of the model'),
  id: 'seen',
  startedAt: 1,
  endedAt: 2,
  steps: steps.map((step, i) => ({ ...step, id: `s${i + 1}`, seq: i + 1 })),
  captured: { ...nothingCaptured(), toolCalls: 'full', llmCalls: 'full', final: 'full' },
});

describe('an agent that was watched', () => {
  it('keeps the answer of the agent and the calls of the capture', () => {
    const trace = mergeTraces(simpleTrace('The answer'), {
      trace: seen(tool('lookup')),
      warnings: [],
    });
    expect([trace.final?.text, toolNames(trace), trace.captured.toolCalls]).toEqual([
      'The answer',
      ['lookup'],
      'full',
    ]);
  });

  it('is timed by the runner, not by its calls', () => {
    const trace = mergeTraces(simpleTrace('x'), { trace: seen(), warnings: [] });
    expect([trace.startedAt, trace.endedAt]).toEqual([undefined, undefined]);
  });

  it('without anything seen is what it said, with a warning', () => {
    const warnings = [{ code: 'CAPTURE_NOTHING', message: 'nothing' }];
    const trace = mergeTraces(simpleTrace('x'), { warnings });
    expect([trace.captured.toolCalls, trace.warnings]).toEqual(['none', warnings]);
  });

  it('adds each call from its own recording that the capture missed, once', () => {
    const own = simpleTrace({
      answer: 'x',
      tool_calls: [
        { name: 'lookup', args: { q: 1 } },
        { name: 'lookup', args: { q: 2 } },
        { name: 'dig', args: {} },
      ],
    });
    const trace = mergeTraces(own, {
      trace: seen(tool('lookup', { args: { q: 1 } })),
      warnings: [],
    });
    expect(toolNames(trace)).toEqual(['lookup', 'lookup', 'dig']);
    expect(trace.steps.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(new Set(trace.steps.map(({ id }) => id)).size).toBe(3);
  });

  it('puts missed calls at their position in its own recording', () => {
    const own = simpleTrace({
      answer: 'x',
      tool_calls: [
        { name: 'lookup', args: {} },
        { name: 'refund', args: {} },
        { name: 'notify', args: {} },
      ],
    });
    const trace = mergeTraces(own, { trace: seen(tool('refund', { args: {} })), warnings: [] });
    expect(toolNames(trace)).toEqual(['lookup', 'refund', 'notify']);
    expect(trace.steps.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('has partial calls if the sighting has, even if its recording claims otherwise', () => {
    const partial = seen(tool('lookup'));
    partial.captured.toolCalls = 'partial';
    const own = simpleTrace({ answer: 'x', tool_calls: [] });
    expect(mergeTraces(own, { trace: partial, warnings: [] }).captured.toolCalls).toBe('partial');
  });
});
