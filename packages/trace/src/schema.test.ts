import { describe, expect, test } from 'vitest';
import { TRACE_LIMITS, validateTrace } from './schema.ts';
import { simpleTrace } from './simple.ts';
import { upgradeTrace } from './upgrade.ts';

const valid = simpleTrace({ id: 'a', answer: 'x', tool_calls: [{ name: 't' }, { name: 'u' }] });

/** A mutable copy of a valid trace. */
interface Loose {
  [key: string]: unknown;
  steps: unknown;
  final: Record<string, unknown>;
  captured: Record<string, unknown>;
}
const step = (t: Loose, i: number): Record<string, unknown> =>
  (t.steps as Record<string, unknown>[])[i]!;
const changed = (change: (trace: Loose) => void): unknown => {
  const copy = structuredClone(valid) as unknown as Loose;
  change(copy);
  return copy;
};
const set = (key: string, value: unknown) => (t: Loose) => {
  t[key] = value;
};
const setStep = (i: number, key: string, value: unknown) => (t: Loose) => {
  step(t, i)[key] = value;
};
const issues = (value: unknown) => {
  const checked = validateTrace(value);
  return checked.ok ? [] : checked.issues;
};

describe('the trace schema', () => {
  test.each<[string, (trace: Loose) => void]>([
    ['id', set('id', undefined)],
    ['steps', set('steps', {})],
    ['steps[0].kind', setStep(0, 'kind', 'magic')],
    ['steps[1].name', setStep(1, 'name', 5)],
    ['steps[1].name', setStep(1, 'name', '')],
    ['steps[0].status', setStep(0, 'status', 'fine')],
    ['steps[1].seq', setStep(1, 'seq', 1)],
    ['steps', (t) => set('steps', new Array(TRACE_LIMITS.steps + 1).fill(step(t, 0)))(t)],
    ['reported.cost.usd', set('reported', { cost: { usd: -1, source: 'reported' } })],
    ['reported.usage.input', set('reported', { usage: { input: '5' } })],
    ['startedAt', set('startedAt', Number.POSITIVE_INFINITY)],
    ['captured.toolCalls', set('captured', { toolCalls: 'yes' })],
    ['meta', set('meta', [])],
    ['final.text', set('final', { text: 'x'.repeat(TRACE_LIMITS.textLength + 1) })],
    ['final.parts[0].text', set('final', { parts: [{ type: 'text' }] })],
  ])('names "%s" as the place of the problem', (path, change) => {
    expect(issues(changed(change))).toMatchObject([{ code: 'TRACE_BAD_FIELD', path }]);
  });

  test.each([null, undefined, 5, 'x', [], {}])('refuses %s without crashing', (value) => {
    expect(issues(value).length).toBeGreaterThan(0);
  });

  test('the number of problems is bounded', () => {
    const steps = Array.from({ length: 1000 }, () => ({ kind: 'tool' }));
    expect(issues({ ...valid, steps }).length).toBeLessThanOrEqual(TRACE_LIMITS.problems);
  });

  test('keeps unknown fields, prototype keys among them', () => {
    const value = JSON.parse(
      JSON.stringify(valid).replace('{', '{"future":1,"__proto__":{"polluted":1},'),
    );
    const checked = validateTrace(value);
    expect(checked).toMatchObject({ ok: true, trace: { future: 1 } });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('a capability the writer does not know was not captured', () => {
    const checked = validateTrace({ ...valid, captured: { final: 'full' } });
    expect(checked).toMatchObject({
      ok: true,
      trace: { captured: { final: 'full', toolCalls: 'none' } },
    });
  });
});

describe('the version ladder', () => {
  test('leaves the current version as it is', () => {
    expect(upgradeTrace(valid)).toEqual({ ok: true, value: valid });
  });

  test.each([
    'agentci.trace/2',
    'agentci.trace/0',
    'agentci.trace/x',
    'agentci.trace/',
    'other/1',
    5,
    undefined,
  ])('refuses schema %s', (schema) => {
    expect(upgradeTrace({ ...valid, schema })).toMatchObject({
      ok: false,
      issue: { code: 'TRACE_VERSION', path: 'schema' },
    });
  });

  test('names a newer version and the way out', () => {
    const upgraded = upgradeTrace({ schema: 'agentci.trace/9' });
    expect(upgraded.ok ? '' : upgraded.issue.message).toMatch(/agentci\.trace\/9.*update AgentCI/);
  });
});
