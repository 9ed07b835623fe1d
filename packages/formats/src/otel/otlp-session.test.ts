import { otlp, type SmallSpan } from '@agentci/testing/otlp';
import { describe, expect, test } from 'vitest';
import type { AdapterItem } from '../adapter.ts';
import { OtlpSession } from './otlp-session.ts';

const tool = (trace: string, id: string, more: Partial<SmallSpan> = {}): SmallSpan => ({
  id,
  trace,
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': id },
  ...more,
});
const other = (trace: string, id: string, parent?: string): SmallSpan => ({
  id,
  trace,
  ...(parent === undefined ? {} : { parent }),
});
const record = (spans: readonly SmallSpan[]) => ({ value: otlp(spans) });
const names = (items: readonly AdapterItem[]): string[] =>
  items.map((item) =>
    item.ok
      ? item.trace.steps.map((step) => ('name' in step ? step.name : step.kind)).join(' ')
      : item.problem.code,
  );
/** As many spans as make the session let something go. */
const crowd = (trace: string, parent?: string): SmallSpan[] =>
  Array.from({ length: 101 }, (_, i) => other(trace, `x${i}`, parent));

describe('a file of requests that is read as it comes', () => {
  test('keeps a trace together over requests', () => {
    const session = new OtlpSession('otlp-json', 100);
    expect(session.push([record([tool('a', 'one')])])).toEqual([]);
    expect(session.push([record([tool('b', 'two')])])).toEqual([]);
    expect(session.push([record([tool('a', 'three')])])).toEqual([]);
    expect(names(session.end()).sort()).toEqual(['one three', 'two']);
  });

  test('lets the trace go that was quiet longest when it holds too much', () => {
    const session = new OtlpSession('otlp-json', 100);
    session.push([record([tool('quiet', 'one')])]);
    session.push([record([tool('busy', 'two')])]);
    const released = session.push([record(crowd('busy'))]);
    expect(names(released)).toEqual(['one', 'two']);
    expect(names(session.end())).toEqual([]);
  });

  test('waits longer for a trace whose root has not come: exporters send children first', () => {
    const session = new OtlpSession('otlp-json', 100);
    session.push([record([tool('open', 'one', { parent: 'root' })])]);
    session.push([record([tool('whole', 'two')])]);
    expect(names(session.push([record(crowd('whole'))]))).toEqual(['two']);
    session.push([record([other('open', 'root')])]);
    expect(names(session.end())).toEqual(['one']);
  });

  test('does not wait for ever: roots in another program never come', () => {
    const session = new OtlpSession('otlp-json', 100);
    session.push([record([tool('open', 'one', { parent: 'root' })])]);
    expect(names(session.push([record(crowd('open', 'elsewhere'))]))).toEqual(['one']);
  });

  test('reports spans that come after their trace was read, and how many', () => {
    const session = new OtlpSession('otlp-json', 100);
    session.push([record([tool('quiet', 'one')])]);
    session.push([record(crowd('busy'))]);
    session.push([record([tool('quiet', 'late'), tool('quiet', 'later')])]);
    const end = session.end();
    expect(names(end)).toEqual(['OTEL_LATE_SPANS']);
    expect(end).toMatchObject([
      { ok: false, problem: { message: expect.stringMatching(/^2 spans/) } },
    ]);
  });

  test('reports a file without any agent', () => {
    const session = new OtlpSession('otlp-json', 100);
    session.push([record([other('a', 'GET /')])]);
    expect(names(session.end())).toEqual(['TRACE_NO_RECORDINGS']);
  });
});
