import { describe, expect, test } from 'vitest';
import vectors from '../../test/vectors/layers.json' with { type: 'json' };
import { accepts } from '../kit/accepts.ts';
import { v } from '../kit/value-schema.ts';
import type { Layer, LayerResult } from '../results/run-result.ts';
import type { Captured, Trace } from '../trace/model.ts';
import { simpleTrace } from '../trace/simple.ts';
import { totals } from '../trace/totals.ts';
import { type AnyCheck, defineCheck, held, isCheck, violated } from './check.ts';
import { evaluateLayer } from './evaluate-layer.ts';
import { CHECKS } from './index.gen.ts';

type Block = Record<string, unknown>;

interface Given {
  readonly baseline?: unknown;
  readonly captured?: Partial<Captured>;
  readonly status?: Trace['status'];
}

const traceOf = (form: unknown, given: Given = {}): Trace => {
  const trace = simpleTrace(form);
  if (given.status !== undefined) trace.status = given.status;
  Object.assign(trace.captured, given.captured);
  return trace;
};

function evaluate(layer: Layer, block: Block | undefined, form: unknown, given: Given = {}): LayerResult {
  const trace = traceOf(form, given);
  const base = given.baseline === undefined ? undefined : simpleTrace(given.baseline);
  const baseline = base === undefined ? {} : { baseline: { version: 'v1', trace: base, totals: totals(base) } };
  return evaluateLayer(layer, block, { trace, totals: totals(trace), ...baseline });
}

const called = (...names: string[]) => ({ answer: 'ok', tool_calls: names.map((name) => ({ name })) });

/** The status of one check, with its skip reason. */
function statusOf(result: LayerResult, key: string): string | undefined {
  const check = result.checks.find(({ id }) => id.endsWith(`.${key}`));
  return check?.skip_reason === undefined ? check?.status : `${check.status}: ${check.skip_reason}`;
}

interface Row {
  id: string;
  kind: string;
  note: string;
  input: {
    answer: string;
    spec: Block;
    used_tools: string[];
    baseline_tools: string[] | null;
    trace: unknown;
    baseline: unknown;
    handoffs: unknown[];
  };
  expected: { status: string; skip_reason?: string; checks?: Record<string, string>; field: string };
}
const rows = (kind: string): Row[] => (vectors as unknown as Row[]).filter((row) => row.kind === kind);

describe('vectors', () => {
  test.each(rows('correctness.evaluate'))('$id $note', ({ input, expected }) => {
    expect(evaluate('correctness', input.spec, { answer: input.answer }).status).toBe(expected.status);
  });
  test.each([...rows('path.evaluate'), ...rows('assert.subsequence')])('$id $note', ({ input, expected }) => {
    const baseline = input.baseline_tools ? { baseline: called(...input.baseline_tools) } : {};
    const result = evaluate('path', input.spec, called(...input.used_tools), baseline);
    expect(result.status).toBe(expected.status);
    if (expected.skip_reason !== undefined) expect(result.checks[0]?.skip_reason).toBe(expected.skip_reason);
  });
  test.each(rows('path.handoff'))('$id $note', ({ input, expected }) => {
    expect(evaluate('path', input.spec, { answer: 'ok', handoffs: input.handoffs }).status).toBe(expected.status);
  });
  test.each(rows('cost.evaluate'))('$id $note', ({ input, expected }) => {
    const result = evaluate(
      'cost',
      input.spec,
      input.trace,
      input.baseline === null ? {} : { baseline: input.baseline },
    );
    expect(result.status).toBe(expected.status);
    for (const [id, status] of Object.entries(expected.checks ?? {})) {
      expect(result.checks.find((check) => check.id === id)?.status).toBe(status);
    }
  });
  test.each(rows('config.ineffective'))('$id $note', ({ input, expected }) => {
    const [layer, key] = expected.field.split('.') as [string, string];
    const params = (input.spec[layer] as Block)[key];
    const check = CHECKS.find((entry) => entry.layer === layer && entry.key === key);
    expect(check?.inspect?.(params as never, {})).toMatchObject([{ severity: 'error', code: 'SPEC_CANNOT_FAIL' }]);
  });
});

describe('every check', () => {
  const checks = CHECKS.filter(isCheck);

  test('there are the checks of the three layers, each key once', () => {
    expect(CHECKS.map(({ layer, key }) => `${layer}.${key}`).sort()).toMatchInlineSnapshot(`
      [
        "correctness.any_expected_in_answer",
        "correctness.exact_match",
        "correctness.expected_in_answer",
        "correctness.is_json",
        "correctness.json_schema",
        "correctness.not_in_answer",
        "correctness.outcome",
        "correctness.regex_match",
        "cost.max_cost_multiplier",
        "cost.max_cost_usd",
        "cost.max_latency_ms",
        "cost.max_llm_calls",
        "cost.max_total_tokens",
        "path.expected_handoff",
        "path.expected_handoffs_available",
        "path.expected_tool_args",
        "path.expected_tool_sequence",
        "path.expected_tools",
        "path.forbidden_tools",
        "path.match_mode",
        "path.max_handoff_count",
        "path.max_loops",
        "path.max_tool_calls",
        "path.min_sequence_similarity",
        "path.min_tool_f1",
        "path.min_tool_precision",
        "path.min_tool_recall",
        "path.rules",
        "path.sequence_metric",
      ]
    `);
  });

  /** One block per check that a run can keep, break, and leave unmeasured. */
  const SAMPLES: Record<string, { params: unknown; keeps: Block; breaks: Block; baseline?: Block; siblings?: Block }> =
    {
      expected_in_answer: { params: ['yes'], keeps: { answer: 'Yes!' }, breaks: { answer: 'no' } },
      any_expected_in_answer: { params: ['a', 'b'], keeps: { answer: 'B' }, breaks: { answer: 'c' } },
      not_in_answer: { params: ['secret'], keeps: { answer: 'ok' }, breaks: { answer: 'the SECRET' } },
      exact_match: { params: 'ok', keeps: { answer: ' ok\n' }, breaks: { answer: 'OK' } },
      regex_match: { params: '^o+k$', keeps: { answer: 'ook' }, breaks: { answer: 'Ok' } },
      is_json: { params: true, keeps: { answer: '{"a": [1]}' }, breaks: { answer: '{"a": [1' } },
      json_schema: {
        params: { type: 'object', required: ['a'] },
        keeps: { answer: '{"a":1}' },
        breaks: { answer: '{}' },
      },
      max_tool_calls: { params: 1, keeps: called('a'), breaks: called('a', 'b') },
      expected_tools: { params: ['a'], keeps: called('a', 'b'), breaks: called('b') },
      forbidden_tools: { params: ['admin_*'], keeps: called('a'), breaks: called('a', 'admin_drop') },
      max_loops: { params: 0, keeps: called('a', 'b', 'a'), breaks: called('a', 'a') },
      match_mode: { params: 'strict', keeps: called('a', 'b'), breaks: called('b', 'a'), baseline: called('a', 'b') },
      min_tool_recall: {
        params: 0.5,
        keeps: called('a'),
        breaks: called('x'),
        siblings: { expected_tools: ['a', 'b'] },
      },
      min_tool_precision: {
        params: 0.5,
        keeps: called('a', 'x'),
        breaks: called('a', 'x', 'y'),
        siblings: { expected_tools: ['a'], min_tool_recall: 0.1 },
      },
      min_tool_f1: {
        params: 0.8,
        keeps: called('a', 'b', 'c'),
        breaks: called('a'),
        siblings: { expected_tools: ['a', 'b'], min_tool_recall: 0.1 },
      },
      min_sequence_similarity: {
        params: 0.8,
        keeps: called('a', 'x', 'b'),
        breaks: called('x', 'y'),
        baseline: called('a', 'b'),
      },
      expected_tool_sequence: { params: ['a', 'b'], keeps: called('a', 'x', 'b'), breaks: called('b', 'a') },
      expected_tool_args: {
        params: [{ tool: 'refund', args: { amount: 5 } }],
        keeps: { answer: '', tool_calls: [{ name: 'refund', args: { amount: 5, note: 'x' } }] },
        breaks: { answer: '', tool_calls: [{ name: 'refund', args: { amount: 6 } }] },
      },
      rules: {
        params: [{ type: 'before', first: 'a', then: 'b' }],
        keeps: called('a', 'b'),
        breaks: called('b', 'a'),
      },
      expected_handoff: {
        params: 'Billing',
        keeps: { answer: '', handoffs: [{ from: 'Triage', to: 'Billing' }] },
        breaks: { answer: '', handoffs: [] },
      },
      max_handoff_count: {
        params: 0,
        keeps: { answer: '', handoffs: [] },
        breaks: { answer: '', handoffs: [{ from: 'Triage', to: 'Billing' }] },
      },
      max_cost_usd: { params: 0.01, keeps: { answer: '', cost_usd: 0.01 }, breaks: { answer: '', cost_usd: 0.011 } },
      max_total_tokens: {
        params: 10,
        keeps: { answer: '', total_tokens: 10 },
        breaks: { answer: '', total_tokens: 11 },
      },
      max_llm_calls: {
        params: 0,
        keeps: { answer: '', llm_calls: [] },
        breaks: { answer: '', llm_calls: [{ model: 'm' }] },
      },
      max_latency_ms: { params: 10, keeps: { answer: '', latency_ms: 10 }, breaks: { answer: '', latency_ms: 11 } },
      max_cost_multiplier: {
        params: 3,
        keeps: { answer: '', cost_usd: 0.6 },
        breaks: { answer: '', cost_usd: 0.61 },
        baseline: { answer: '', cost_usd: 0.2 },
      },
    };
  const samples = checks.flatMap((check) => {
    const sample = SAMPLES[check.key];
    return sample === undefined ? [] : [{ check, id: `${check.layer}.${check.key}`, ...sample }];
  });

  test('has a sample here, or a test of its own below', () => {
    // No simple recording carries an outcome; outcome.test.ts has that one's cases.
    expect(checks.map(({ key }) => key).filter((key) => SAMPLES[key] === undefined)).toEqual([
      'outcome',
      'expected_handoffs_available',
    ]);
  });

  test.each(samples)(
    '$id: kept, violated with its severity, and number and limit on both',
    ({ check, params, keeps, breaks, baseline, siblings }) => {
      const block = { [check.key]: params, ...siblings };
      const given = baseline === undefined ? {} : { baseline };
      const of = (form: Block) =>
        evaluate(check.layer, block, form, given).checks.find(({ id }) => id.endsWith(`.${check.key}`))!;
      expect(of(keeps).status).toBe('pass');
      expect(of(breaks).status).toBe(check.severity);
      for (const result of [of(keeps), of(breaks)]) {
        expect(result.limit).toBeDefined();
        expect(result.message).toMatch(/\S/);
      }
      expect(of(breaks).message).not.toBe(of(keeps).message);
      expect(accepts(check.schema, params)).toBe(true);
      expect(check.inspect?.(params as never, block) ?? []).toEqual([]);
    },
  );

  test.each(samples)('$id: what was not captured is never a pass', ({ check, params, baseline, siblings }) => {
    const block = { [check.key]: params, ...siblings };
    const nothing = simpleTrace({ metadata: {} });
    const base = baseline === undefined ? undefined : simpleTrace(baseline);
    const result = evaluateLayer(check.layer, block, {
      trace: nothing,
      totals: totals(nothing),
      ...(base === undefined ? {} : { baseline: { version: 'v1', trace: base, totals: totals(base) } }),
    });
    expect(statusOf(result, check.key)).toBe(check.severity === 'fail' ? 'error' : 'skip: not_measured');
  });

  test.each(samples)('$id: hostile parameters give an error, not a crash', ({ check }) => {
    for (const params of [Symbol('x'), 7n, { __proto__: null }, [null], Number.NaN, '']) {
      const result = evaluate(
        check.layer,
        { [check.key]: params },
        { answer: 'x', tool_calls: [{ name: 'a', args: {} }] },
      );
      expect(result.checks.length).toBeLessThanOrEqual(1);
    }
  });
});

describe('the rules where the seeds are open', () => {
  test.each([
    {
      rule: 'expected_tools: [] with a call warns',
      block: { expected_tools: [] },
      used: ['a'],
      key: 'expected_tools',
      status: 'warn',
    },
    {
      rule: 'expected_tools: [] without a call passes',
      block: { expected_tools: [] },
      used: [],
      key: 'expected_tools',
      status: 'pass',
    },
    {
      rule: 'a missing expected tool warns',
      block: { expected_tools: ['a', 'b'] },
      used: ['a'],
      key: 'expected_tools',
      status: 'warn',
    },
    {
      rule: 'min_tool_recall replaces that bound',
      block: { expected_tools: ['a', 'b'], min_tool_recall: 0.5 },
      used: ['a'],
      key: 'expected_tools',
      status: 'pass',
    },
    {
      rule: 'extra tools do not gate without min_tool_precision',
      block: { expected_tools: ['a'] },
      used: ['a', 'x', 'y'],
      key: 'expected_tools',
      status: 'pass',
    },
    {
      rule: 'precision with no calls and something expected is 0',
      block: { expected_tools: ['a'], min_tool_precision: 0.1 },
      used: [],
      key: 'min_tool_precision',
      status: 'warn',
    },
    {
      rule: 'precision with no calls and nothing expected is 1',
      block: { expected_tools: [], min_tool_precision: 1 },
      used: [],
      key: 'min_tool_precision',
      status: 'pass',
    },
    { rule: 'max_loops 0 is allowed', block: { max_loops: 0 }, used: ['a', 'a'], key: 'max_loops', status: 'warn' },
    {
      rule: 'A B A B is no loop',
      block: { max_loops: 0 },
      used: ['a', 'b', 'a', 'b'],
      key: 'max_loops',
      status: 'pass',
    },
    {
      rule: 'match_mode falls back on expected_tools',
      block: { match_mode: 'superset', expected_tools: ['a'] },
      used: ['a', 'x'],
      key: 'match_mode',
      status: 'warn',
    },
    {
      rule: 'match_mode without any reference is skipped',
      block: { match_mode: 'strict' },
      used: ['a'],
      key: 'match_mode',
      status: 'skip: no_baseline',
    },
    {
      rule: 'match_mode unwritten and no baseline is no check',
      block: { max_loops: 1 },
      used: ['a'],
      key: 'match_mode',
      status: undefined,
    },
    {
      rule: 'a forbidden tool fails',
      block: { forbidden_tools: ['a*b'] },
      used: ['axxb'],
      key: 'forbidden_tools',
      status: 'fail',
    },
    {
      rule: 'multiplicity counts in a sequence',
      block: { expected_tool_sequence: ['a', 'a'] },
      used: ['a', 'b'],
      key: 'expected_tool_sequence',
      status: 'warn',
    },
    {
      rule: 'no baseline, no sequence similarity',
      block: { min_sequence_similarity: 0.5 },
      used: ['a'],
      key: 'min_sequence_similarity',
      status: 'skip: no_baseline',
    },
  ])('$rule', ({ block, used, key, status }) => {
    expect(statusOf(evaluate('path', block, called(...used)), key)).toBe(status);
  });

  test('a baseline implies match_mode subset wherever path exists', () => {
    const given = { baseline: called('a', 'b') };
    expect(evaluate('path', {}, called('a'), given)).toMatchObject({
      status: 'warn',
      details: { match_mode: { mode: 'subset', matched: false } },
    });
    expect(statusOf(evaluate('path', {}, called('b', 'x', 'a'), given), 'match_mode')).toBe('pass');
    expect(evaluate('path', undefined, called('a'), given)).toEqual({
      status: 'skip',
      messages: [],
      details: {},
      checks: [],
    });
  });

  test('the baseline is the reference before expected_tools', () => {
    const block = { match_mode: 'unordered', expected_tools: ['a'] };
    expect(statusOf(evaluate('path', block, called('a'), { baseline: called('a', 'b') }), 'match_mode')).toBe('warn');
  });

  test('every match message prints its rule', () => {
    for (const mode of ['strict', 'unordered', 'subset', 'superset']) {
      const [check] = evaluate('path', { match_mode: mode }, called('a'), { baseline: called('a') }).checks;
      expect(check?.message).toContain(`${mode}: `);
    }
  });

  test('a baseline whose tool calls were not recorded is no reference', () => {
    const result = evaluate('path', { match_mode: 'strict' }, called('a'), { baseline: { answer: 'x' } });
    expect(statusOf(result, 'match_mode')).toBe('skip: no_baseline');
  });

  test.each([
    { metric: undefined, used: ['b', 'a'], value: 0.5 },
    { metric: 'lcs', used: ['b', 'a'], value: 0.5 },
    { metric: 'edit', used: ['b', 'a'], value: 0 },
  ])('sequence_metric $metric measures $value', ({ metric, used, value }) => {
    const block = { min_sequence_similarity: 0.9, ...(metric === undefined ? {} : { sequence_metric: metric }) };
    const result = evaluate('path', block, called(...used), { baseline: called('a', 'b') });
    expect(result.details.sequence_similarity).toBe(value);
    expect(result.checks.some(({ id }) => id === 'path.sequence_metric')).toBe(false);
  });

  test.each([
    { text: 'ΟΔΟΣ ΑΘΗΝΑΣ', term: 'οδος', status: 'pass' },
    { text: 'Straße', term: 'STRASSE', status: 'pass' },
    { text: 'İSTANBUL', term: 'istanbul', status: 'pass' },
  ])('contains checks fold case: $term in $text', ({ text, term, status }) => {
    expect(evaluate('correctness', { expected_in_answer: [term] }, { answer: text }).status).toBe(status);
    expect(evaluate('correctness', { not_in_answer: [term] }, { answer: text }).status).toBe('fail');
  });

  test('regex and exact match count case, and Python syntax is read', () => {
    expect(evaluate('correctness', { regex_match: 'PIP' }, { answer: 'pip' }).status).toBe('fail');
    expect(evaluate('correctness', { exact_match: 'PIP' }, { answer: 'pip' }).status).toBe('fail');
    expect(evaluate('correctness', { regex_match: '(?i)\\A(?P<tool>PIP)\\Z' }, { answer: 'pip' }).status).toBe('pass');
  });

  test('a pattern that runs out of time is an error, not a verdict', () => {
    const result = evaluate('correctness', { regex_match: '(?=(a+)+$)b' }, { answer: `${'a'.repeat(60)}!` });
    expect(result.status).toBe('error');
  });

  test('no final answer makes every answer check an error', () => {
    const block = {
      expected_in_answer: ['a'],
      any_expected_in_answer: ['a'],
      not_in_answer: ['b'],
      exact_match: 'a',
      regex_match: 'a',
      json_schema: { type: 'object' },
    };
    const { checks } = evaluate('correctness', block, { tool_calls: [] });
    expect(checks.map(({ status }) => status)).toEqual(Array(6).fill('error'));
  });

  test('an empty answer is an answer', () => {
    expect(evaluate('correctness', { not_in_answer: ['x'] }, { answer: '' }).status).toBe('pass');
    expect(evaluate('correctness', { expected_in_answer: ['x'] }, { answer: '' }).status).toBe('fail');
  });

  test('a structured answer is validated as it is', () => {
    const block = { json_schema: { type: 'array', items: { type: 'number' } } };
    expect(evaluate('correctness', block, { answer: [1, 2] }).status).toBe('pass');
    expect(evaluate('correctness', block, { answer: ['1'] }).status).toBe('fail');
    expect(evaluate('correctness', block, { answer: '```json\n[1]\n```' }).status).toBe('fail');
  });
});

describe('what is known only in part', () => {
  const partial = { captured: { toolCalls: 'partial' } } as const;
  test.each([
    { key: 'forbidden_tools', params: ['bad'], used: ['bad'], status: 'fail' },
    { key: 'forbidden_tools', params: ['bad'], used: ['ok'], status: 'error' },
    { key: 'max_tool_calls', params: 1, used: ['a', 'b'], status: 'warn' },
    { key: 'max_tool_calls', params: 2, used: ['a', 'b'], status: 'skip: not_measured' },
    { key: 'expected_tools', params: ['a'], used: ['a'], status: 'pass' },
    { key: 'expected_tools', params: ['a'], used: ['b'], status: 'skip: not_measured' },
    { key: 'expected_tools', params: [], used: ['b'], status: 'warn' },
    { key: 'expected_tools', params: [], used: [], status: 'skip: not_measured' },
    { key: 'expected_tool_sequence', params: ['a', 'b'], used: ['a', 'b'], status: 'pass' },
    { key: 'expected_tool_sequence', params: ['a', 'b'], used: ['b', 'a'], status: 'skip: not_measured' },
    { key: 'max_loops', params: 0, used: ['a', 'a'], status: 'skip: not_measured' },
    { key: 'expected_tool_args', params: [{ tool: 'a', args: {} }], used: [], status: 'skip: not_measured' },
  ])('$key $params after $used: $status', ({ key, params, used, status }) => {
    expect(statusOf(evaluate('path', { [key]: params }, called(...used), partial), key)).toBe(status);
    // A run cut short is known in part too.
    expect(statusOf(evaluate('path', { [key]: params }, called(...used), { status: 'incomplete' }), key)).toBe(status);
  });

  test.each([
    { mode: 'subset', used: ['a', 'b'], status: 'pass' },
    { mode: 'subset', used: ['a'], status: 'skip: not_measured' },
    { mode: 'superset', used: ['x'], status: 'warn' },
    { mode: 'superset', used: ['a'], status: 'skip: not_measured' },
    { mode: 'strict', used: ['a', 'b'], status: 'skip: not_measured' },
    { mode: 'unordered', used: ['a', 'b'], status: 'skip: not_measured' },
  ])('match_mode $mode after $used: $status', ({ mode, used, status }) => {
    expect(
      statusOf(
        evaluate('path', { match_mode: mode }, called(...used), { ...partial, baseline: called('a', 'b') }),
        'match_mode',
      ),
    ).toBe(status);
  });

  test.each([
    { min: 'min_tool_recall', bound: 0.5, used: ['a'], status: 'pass' },
    { min: 'min_tool_recall', bound: 1, used: ['a'], status: 'skip: not_measured' },
    { min: 'min_tool_precision', bound: 0.5, used: ['a'], status: 'skip: not_measured' },
    { min: 'min_tool_f1', bound: 0.5, used: ['a'], status: 'skip: not_measured' },
  ])('$min $bound after $used: $status', ({ min, bound, used, status }) => {
    expect(
      statusOf(evaluate('path', { [min]: bound, expected_tools: ['a', 'b'] }, called(...used), partial), min),
    ).toBe(status);
  });

  test('a cost known in part warns once it exceeds the limit, and else is not measured', () => {
    const form = { answer: '', llm_calls: [{ model: 'm', cost_usd: 0.5 }, { model: 'm' }] };
    expect(statusOf(evaluate('cost', { max_cost_usd: 0.4 }, form), 'max_cost_usd')).toBe('warn');
    expect(statusOf(evaluate('cost', { max_cost_usd: 0.6 }, form), 'max_cost_usd')).toBe('skip: not_measured');
    const given = { baseline: { answer: '', cost_usd: 0.1 } };
    expect(statusOf(evaluate('cost', { max_cost_multiplier: 4 }, form, given), 'max_cost_multiplier')).toBe('warn');
    expect(statusOf(evaluate('cost', { max_cost_multiplier: 6 }, form, given), 'max_cost_multiplier')).toBe(
      'skip: not_measured',
    );
  });

  test('handoffs seen in part', () => {
    const form = { answer: '', handoffs: [{ from: 'a', to: 'b' }] };
    const given = { captured: { handoffs: 'partial' } } as const;
    expect(statusOf(evaluate('path', { expected_handoff: 'b' }, form, given), 'expected_handoff')).toBe('pass');
    expect(statusOf(evaluate('path', { expected_handoff: 'c' }, form, given), 'expected_handoff')).toBe(
      'skip: not_measured',
    );
    expect(statusOf(evaluate('path', { max_handoff_count: 0 }, form, given), 'max_handoff_count')).toBe('warn');
    expect(statusOf(evaluate('path', { max_handoff_count: 1 }, form, given), 'max_handoff_count')).toBe(
      'skip: not_measured',
    );
  });
});

describe('max_cost_multiplier', () => {
  test.each([
    { why: 'no baseline', baseline: undefined, form: { answer: '', cost_usd: 1 }, status: 'skip: no_baseline' },
    {
      why: 'a baseline that cost nothing',
      baseline: { answer: '', cost_usd: 0 },
      form: { answer: '', cost_usd: 1 },
      status: 'skip: no_baseline',
    },
    {
      why: 'a baseline of unknown cost',
      baseline: { answer: '' },
      form: { answer: '', cost_usd: 1 },
      status: 'skip: no_baseline',
    },
    {
      why: 'an unknown cost now',
      baseline: { answer: '', cost_usd: 1 },
      form: { answer: '' },
      status: 'skip: not_measured',
    },
    {
      why: 'exactly the limit',
      baseline: { answer: '', cost_usd: 0.2 },
      form: { answer: '', cost_usd: 0.6 },
      status: 'pass',
    },
    {
      why: 'just above the limit',
      baseline: { answer: '', cost_usd: 0.2 },
      form: { answer: '', cost_usd: 0.601 },
      status: 'warn',
    },
  ])('$why: $status', ({ baseline, form, status }) => {
    const result = evaluate('cost', { max_cost_multiplier: 3 }, form, baseline === undefined ? {} : { baseline });
    expect(statusOf(result, 'max_cost_multiplier')).toBe(status);
  });
});

describe('expected_handoffs_available', () => {
  const withTargets = (targets: string[] | undefined, level: Captured['agents']): LayerResult => {
    const trace = traceOf({ answer: '', handoffs: [] }, { captured: { agents: level } });
    trace.agents = [
      { id: 'a', name: 'Triage', ...(targets === undefined ? {} : { canHandOffTo: targets }) },
      { id: 'b', name: 'Other' },
    ];
    return evaluateLayer(
      'path',
      { expected_handoffs_available: ['Billing', 'Tech'] },
      { trace, totals: totals(trace) },
    );
  };
  test.each([
    { targets: ['Billing', 'Tech', 'More'], level: 'full', status: 'pass' },
    { targets: ['Billing'], level: 'full', status: 'warn' },
    { targets: ['Billing'], level: 'partial', status: 'skip: not_measured' },
    { targets: undefined, level: 'full', status: 'skip: not_measured' },
    { targets: [], level: 'full', status: 'warn' },
  ] as const)('$targets captured $level: $status', ({ targets, level, status }) => {
    expect(
      statusOf(withTargets(targets === undefined ? undefined : [...targets], level), 'expected_handoffs_available'),
    ).toBe(status);
  });
});

describe('expected_tool_args', () => {
  const run = (asked: unknown, ...args: unknown[]): string | undefined => {
    const form = {
      answer: '',
      tool_calls: args.map((value) => (value === undefined ? { name: 't' } : { name: 't', args: value })),
    };
    return statusOf(evaluate('path', { expected_tool_args: [{ tool: 't', args: asked }] }, form), 'expected_tool_args');
  };
  test.each([
    { asked: { a: 1 }, args: { a: 1, b: 2 }, status: 'pass' },
    { asked: { a: 1 }, args: { a: '1' }, status: 'warn' },
    { asked: { a: 1 }, args: {}, status: 'warn' },
    { asked: { a: null }, args: { a: null }, status: 'pass' },
    { asked: { a: null }, args: {}, status: 'warn' },
    { asked: { a: { x: [1, { y: 2 }], z: 0 } }, args: { a: { z: 0, x: [1, { y: 2 }] } }, status: 'pass' },
    { asked: { a: { equals: { x: 1 } } }, args: { a: { x: 1, y: 2 } }, status: 'warn' },
    { asked: { a: { subset: { x: 1 } } }, args: { a: { x: 1, y: 2 } }, status: 'pass' },
    { asked: { a: { subset: [{ id: 2 }] } }, args: { a: [{ id: 1 }, { id: 2, n: 'x' }] }, status: 'pass' },
    { asked: { a: { subset: [3] } }, args: { a: [1, 2] }, status: 'warn' },
    { asked: { a: { one_of: ['x', 'y'] } }, args: { a: 'y' }, status: 'pass' },
    { asked: { a: { oneOf: ['x', 'y'] } }, args: { a: 'z' }, status: 'warn' },
    { asked: { a: { regex: '^INV-\\d+$' } }, args: { a: 'INV-12' }, status: 'pass' },
    { asked: { a: { regex: '^INV-\\d+$' } }, args: { a: 'inv-12' }, status: 'warn' },
    { asked: { a: { regex: '^1' } }, args: { a: 12 }, status: 'pass' },
    { asked: { a: { regex: '.' } }, args: { a: {} }, status: 'warn' },
    { asked: { a: { tolerance: { value: 10, abs: 0.1 } } }, args: { a: 10.1 }, status: 'pass' },
    { asked: { a: { tolerance: { value: 10, abs: 0.1 } } }, args: { a: 10.2 }, status: 'warn' },
    { asked: { a: { tolerance: { value: 200, rel: 0.05 } } }, args: { a: 190 }, status: 'pass' },
    { asked: { a: { equals: 10, tolerance: 0.5 } }, args: { a: 10.5 }, status: 'pass' },
    { asked: { a: { equals: 10, tolerance: 0.5 } }, args: { a: 10.6 }, status: 'warn' },
    { asked: { a: { tolerance: { value: 10, abs: 1 } } }, args: { a: '10' }, status: 'warn' },
    { asked: { a: { equals: null } }, args: {}, status: 'warn' },
    { asked: { a: { ignore: true }, b: 1 }, args: { b: 1 }, status: 'pass' },
    { asked: { a: 1 }, args: [1], status: 'warn' },
    { asked: { a: 1 }, args: undefined, status: 'skip: not_measured' },
    { asked: JSON.parse('{"__proto__":1}'), args: {}, status: 'warn' },
    { asked: { constructor: 1 }, args: {}, status: 'warn' },
  ])('$asked on $args: $status', ({ asked, args, status }) => {
    expect(run(asked, args)).toBe(status);
  });

  test('some call of the tool is enough, and one call must satisfy all arguments', () => {
    expect(run({ a: 1, b: 2 }, { a: 1, b: 3 }, { a: 1, b: 2 })).toBe('pass');
    expect(run({ a: 1, b: 2 }, { a: 1, b: 3 }, { a: 2, b: 2 })).toBe('warn');
    expect(run({ a: 1 })).toBe('warn');
  });

  test('says for each call what differed, and where', () => {
    const form = {
      answer: '',
      tool_calls: [
        { name: 't', args: { a: 2 } },
        { name: 'u', args: {} },
        { name: 't', args: {} },
      ],
    };
    const [check] = evaluate('path', { expected_tool_args: [{ tool: 't', args: { a: 1 } }] }, form).checks;
    expect(check?.message).toMatchInlineSnapshot(
      `"tool arguments: 0 of 1 entries satisfied; no call of t has the arguments (call 1: a is 2, not 1; call 3: a is missing)"`,
    );
    expect(check?.evidence.map(({ call }) => call)).toEqual([1, 3]);
  });

  test.each([
    [{ tool: 't', args: { a: { equals: 1, oops: 2 } } }],
    [{ tool: 't', args: { a: { one_of: [] } } }],
    [{ tool: 't', args: { a: { tolerance: 1 } } }],
    [{ tool: 't', args: { a: { tolerance: { value: 1 } } } }],
    [{ tool: 't', args: { a: { ignore: false } } }],
    [{ tool: 't' }],
    [{ tool: 't', args: {}, extra: 1 }],
  ])('refuses %j', (entry) => {
    const check = CHECKS.find(({ key }) => key === 'expected_tool_args')!;
    expect(accepts(check.schema, [entry])).toBe(false);
  });
});

describe('inspect', () => {
  const issues = (layer: Layer, block: Block, key: string) => {
    const entry = CHECKS.find((check) => check.layer === layer && check.key === key)!;
    return (entry.inspect?.(block[key] as never, block) ?? []).map(({ severity, code, path }) => ({
      severity,
      code,
      ...(path === undefined ? {} : { path }),
    }));
  };
  const error = (code: string, path?: (string | number)[]) => ({
    severity: 'error',
    code,
    ...(path === undefined ? {} : { path }),
  });
  const warning = (code: string, path?: (string | number)[]) => ({
    severity: 'warning',
    code,
    ...(path === undefined ? {} : { path }),
  });

  test.each([
    {
      layer: 'correctness',
      key: 'expected_in_answer',
      block: { expected_in_answer: [] },
      found: [error('SPEC_CANNOT_FAIL')],
    },
    {
      layer: 'correctness',
      key: 'any_expected_in_answer',
      block: { any_expected_in_answer: [] },
      found: [error('SPEC_CANNOT_FAIL')],
    },
    { layer: 'correctness', key: 'not_in_answer', block: { not_in_answer: [] }, found: [error('SPEC_CANNOT_FAIL')] },
    {
      layer: 'correctness',
      key: 'expected_in_answer',
      block: { expected_in_answer: ['a', ' '] },
      found: [error('SPEC_BLANK', [1])],
    },
    {
      layer: 'correctness',
      key: 'not_in_answer',
      block: { not_in_answer: ['Secret'], expected_in_answer: ['the SECRET'] },
      found: [error('SPEC_CONTRADICTION', [0])],
    },
    {
      layer: 'correctness',
      key: 'not_in_answer',
      block: { not_in_answer: ['a'], any_expected_in_answer: ['ba', 'ca'] },
      found: [error('SPEC_CONTRADICTION', [0])],
    },
    {
      layer: 'correctness',
      key: 'not_in_answer',
      block: { not_in_answer: ['a'], any_expected_in_answer: ['ba', 'c'] },
      found: [],
    },
    { layer: 'correctness', key: 'regex_match', block: { regex_match: '' }, found: [error('SPEC_CANNOT_FAIL')] },
    { layer: 'correctness', key: 'regex_match', block: { regex_match: '(' }, found: [error('SPEC_BAD_REGEX')] },
    { layer: 'correctness', key: 'regex_match', block: { regex_match: '.*' }, found: [warning('SPEC_CANNOT_FAIL')] },
    { layer: 'correctness', key: 'json_schema', block: { json_schema: {} }, found: [error('SPEC_CANNOT_FAIL')] },
    {
      layer: 'correctness',
      key: 'json_schema',
      block: { json_schema: { title: 'x' } },
      found: [error('SPEC_CANNOT_FAIL')],
    },
    {
      layer: 'correctness',
      key: 'json_schema',
      block: { json_schema: { type: 'objekt' } },
      found: [error('SPEC_BAD_SCHEMA', ['type'])],
    },
    { layer: 'path', key: 'expected_tools', block: { expected_tools: [] }, found: [] },
    {
      layer: 'path',
      key: 'expected_tools',
      block: { expected_tools: [], expected_tool_sequence: ['a'] },
      found: [error('SPEC_CONTRADICTION')],
    },
    { layer: 'path', key: 'expected_tools', block: { expected_tools: [''] }, found: [error('SPEC_BLANK', [0])] },
    {
      layer: 'path',
      key: 'forbidden_tools',
      block: { forbidden_tools: ['delete', 'dr\u200bop'] },
      found: [warning('SPEC_INVISIBLE', [1])],
    },
    {
      layer: 'correctness',
      key: 'not_in_answer',
      block: { not_in_answer: ['\u200b\ufeff ', 'se\u00adcret', '👨\u200d👩\u200d👧'] },
      found: [error('SPEC_BLANK', [0]), warning('SPEC_INVISIBLE', [1])],
    },
    {
      layer: 'path',
      key: 'forbidden_tools',
      block: { forbidden_tools: ['^rm$', 'rm,ls', 'rm ls', '!rm', '{rm,ls}', 'rm ', 'ls - rm'] },
      found: [0, 1, 2, 3, 4, 5, 6].map((i) => error('SPEC_BAD_GLOB', [i])),
    },
    {
      layer: 'path',
      key: 'forbidden_tools',
      block: { forbidden_tools: ['functions.*', 'server/tool', 'a_[bc]?', 'mcp__x__*', 'say?hello', '*'] },
      found: [],
    },
    { layer: 'path', key: 'forbidden_tools', block: { forbidden_tools: [] }, found: [error('SPEC_CANNOT_FAIL')] },
    {
      layer: 'path',
      key: 'forbidden_tools',
      block: { forbidden_tools: ['x', 'adm*'], expected_tools: ['admin'] },
      found: [error('SPEC_CONTRADICTION', [1])],
    },
    {
      layer: 'path',
      key: 'forbidden_tools',
      block: { forbidden_tools: ['t'], expected_tool_args: [{ tool: 't', args: {} }, null] },
      found: [error('SPEC_CONTRADICTION', [0])],
    },
    {
      layer: 'path',
      key: 'max_tool_calls',
      block: { max_tool_calls: 0, expected_tools: ['a'] },
      found: [error('SPEC_CONTRADICTION')],
    },
    { layer: 'path', key: 'max_tool_calls', block: { max_tool_calls: 0 }, found: [] },
    {
      layer: 'path',
      key: 'min_tool_recall',
      block: { min_tool_recall: 0, expected_tools: ['a'] },
      found: [warning('SPEC_CANNOT_FAIL')],
    },
    { layer: 'path', key: 'min_tool_recall', block: { min_tool_recall: 1 }, found: [error('SPEC_NEEDS_KEY')] },
    { layer: 'path', key: 'min_tool_precision', block: { min_tool_precision: 1 }, found: [error('SPEC_NEEDS_KEY')] },
    { layer: 'path', key: 'min_tool_f1', block: { min_tool_f1: 1 }, found: [error('SPEC_NEEDS_KEY')] },
    {
      layer: 'path',
      key: 'min_sequence_similarity',
      block: { min_sequence_similarity: 0 },
      found: [warning('SPEC_CANNOT_FAIL')],
    },
    { layer: 'path', key: 'sequence_metric', block: { sequence_metric: 'edit' }, found: [error('SPEC_NEEDS_KEY')] },
    {
      layer: 'path',
      key: 'expected_tool_sequence',
      block: { expected_tool_sequence: [] },
      found: [error('SPEC_CANNOT_FAIL')],
    },
    { layer: 'path', key: 'expected_tool_args', block: { expected_tool_args: [] }, found: [error('SPEC_CANNOT_FAIL')] },
    {
      layer: 'path',
      key: 'expected_tool_args',
      block: {
        expected_tool_args: [{ tool: 't', args: { a: { regx: '^x' }, b: { city: 'Rome' }, c: { equals: {} } } }],
      },
      found: [warning('SPEC_NEAR_MATCHER', [0, 'args', 'a', 'regx'])],
    },
    {
      layer: 'path',
      key: 'expected_tool_args',
      block: { expected_tool_args: [{ tool: 't', args: { a: { regex: '[' } } }] },
      found: [error('SPEC_BAD_REGEX', [0, 'args', 'a', 'regex'])],
    },
    { layer: 'path', key: 'expected_handoff', block: { expected_handoff: ' ' }, found: [error('SPEC_BLANK')] },
    {
      layer: 'path',
      key: 'expected_handoffs_available',
      block: { expected_handoffs_available: [] },
      found: [error('SPEC_CANNOT_FAIL')],
    },
  ] as const)('$key in $block', ({ layer, key, block, found }) => {
    expect(issues(layer, block, key)).toEqual(found);
  });

  test.each([
    ['path', 'max_tool_calls', -1],
    ['path', 'max_tool_calls', 1.5],
    ['path', 'max_loops', -1],
    ['path', 'min_tool_recall', 1.5],
    ['path', 'min_sequence_similarity', -0.1],
    ['path', 'match_mode', 'exact'],
    ['path', 'sequence_metric', 'dtw'],
    ['cost', 'max_cost_usd', -1],
    ['cost', 'max_cost_multiplier', 0],
    ['cost', 'max_llm_calls', Number.POSITIVE_INFINITY],
    ['correctness', 'expected_in_answer', 'text'],
    ['correctness', 'json_schema', 'text'],
  ])('%s.%s does not take %j', (layer, key, value) => {
    const check = CHECKS.find((each) => each.layer === layer && each.key === key)!;
    expect(accepts(check.schema, value)).toBe(false);
  });
});

describe('evaluateLayer', () => {
  const location = { file: 'spec.yaml', line: 6, column: 7 };
  const broken: AnyCheck = defineCheck({
    layer: 'path',
    key: 'broken',
    severity: 'warn',
    order: 1,
    summary: '',
    schema: v.number(),
    evaluate: () => {
      throw new Error('boom');
    },
  });
  const fine: AnyCheck = defineCheck({
    layer: 'path',
    key: 'fine',
    severity: 'warn',
    order: 2,
    summary: '',
    schema: v.number(),
    evaluate: (limit) => (limit > 0 ? held('fine') : violated('not fine')),
  });
  const trace = simpleTrace(called('a', 'admin_x'));
  const context = { trace, totals: totals(trace) };

  test('blocks with other keys run other checks, however alike the keys look', () => {
    const checks = [fine, broken];
    const ids = (block: object) => evaluateLayer('path', { ...block }, context, { checks }).checks.map(({ id }) => id);
    expect(ids({ 'fine,broken': 1 })).toEqual([]);
    expect(ids({ fine: 1, broken: 1 })).toEqual(['path.broken', 'path.fine']);
    expect(ids({ fine: 1 })).toEqual(['path.fine']);
    expect(ids({ fine: null, broken: 1 })).toEqual(['path.broken']);
    expect(ids({ fine: 1, broken: 1 })).toEqual(['path.broken', 'path.fine']);
  });

  test('a check that throws is an error of its own, whatever its severity, and the rest still runs', () => {
    const result = evaluateLayer('path', { fine: 1, broken: 1 }, context, { checks: [fine, broken] });
    expect(result.checks).toMatchObject([
      { id: 'path.broken', status: 'error' },
      { id: 'path.fine', status: 'pass' },
    ]);
    expect(result.status).toBe('error');
    expect(result.messages).toHaveLength(1);
  });

  test('keys of other owners are left alone, and null is not written', () => {
    const result = evaluateLayer('path', { rules: [], fine: null }, context, { checks: [fine] });
    expect(result).toEqual({ status: 'skip', messages: [], details: {}, checks: [] });
  });

  test('a layer that passes says so in one line, a violation only its own', () => {
    expect(evaluateLayer('path', { max_tool_calls: 5, max_loops: 2 }, context).messages).toEqual(['2 checks passed']);
    const result = evaluateLayer('path', { max_tool_calls: 5, forbidden_tools: ['admin_*'] }, context, {
      locations: { 'path.forbidden_tools': location },
    });
    expect(result).toMatchObject({
      status: 'fail',
      details: { tool_calls: { actual: 2, max: 5 }, forbidden_tools: { violations: ['admin_x'] } },
      checks: [
        { id: 'path.max_tool_calls', status: 'pass', value: 2, limit: 5 },
        { id: 'path.forbidden_tools', status: 'fail', value: 1, limit: 0, location, evidence: [{ call: 2 }] },
      ],
    });
    expect(result.messages).toHaveLength(1);
    expect(result.checks[1]?.evidence[0]?.step).toBe(trace.steps.at(-1)?.seq);
  });

  test('the cost layer always says what was used, unknown as null', () => {
    expect(
      evaluate('cost', { max_llm_calls: 3 }, { answer: '', total_tokens: 12, cost_usd: 0.00000123 }).details,
    ).toEqual({
      actual: { cost_usd: 0.000001, total_tokens: 12, llm_calls: null, latency_ms: null },
    });
    const given = { baseline: { answer: '', total_tokens: 10, cost_usd: 0.1, latency_ms: 100 } };
    const result = evaluate('cost', {}, { answer: '', total_tokens: 12, cost_usd: 0.25, latency_ms: 150 }, given);
    expect(result.details).toMatchObject({
      cost_multiplier: 2.5,
      token_multiplier: 1.2,
      latency_multiplier: 1.5,
    });
    // Against a limit they are ratios, and have nothing to do with the baseline.
    const limits = { max_total_tokens: 24, max_latency_ms: 100 };
    const limited = evaluate('cost', limits, { answer: '', total_tokens: 12, latency_ms: 150 }, given).details;
    expect(limited).toMatchObject({ token_ratio: 0.5, latency_ratio: 1.5, token_multiplier: 1.2 });
    expect(evaluate('cost', { max_llm_calls: 1 }, { answer: '', total_tokens: 12 }).details).not.toHaveProperty(
      'token_ratio',
    );
  });

  test.each([
    { expected_tools: ['a', 'b'], used: ['a', 'c'], tool_f1: 0.5 },
    { expected_tools: ['a'], used: ['a'], tool_f1: 1 },
    { expected_tools: [], used: [], tool_f1: 1 },
    { expected_tools: [], used: ['a'], tool_f1: 0 },
  ])('tool_f1 is in the details whenever expected_tools is: $tool_f1', ({ expected_tools, used, tool_f1 }) => {
    const form = { answer: 'x', tool_calls: used.map((name) => ({ name })) };
    expect(evaluate('path', { expected_tools }, form).details).toMatchObject({ tool_f1 });
  });

  test('details keep the names other programs read', () => {
    const block = {
      expected_tools: ['a'],
      min_tool_f1: 0.1,
      max_loops: 1,
      min_sequence_similarity: 0.1,
      expected_handoff: 'b',
    };
    const form = { ...called('a'), handoffs: [{ from: 'x', to: 'b' }] };
    expect(evaluate('path', block, form, { baseline: called('a') }).details).toMatchObject({
      tool_recall: 1,
      tool_precision: 1,
      tool_f1: 1,
      loops_detected: 0,
      sequence_similarity: 1,
      match_mode: { mode: 'subset', matched: true },
      handoffs: { expected: 'b', actual: ['b'] },
    });
    expect(
      evaluate('correctness', { expected_in_answer: ['a'], not_in_answer: ['b'] }, { answer: 'a' }).details,
    ).toEqual({
      expected_in_answer: { checked: ['a'], all_found: true },
      not_in_answer: { checked: ['b'], none_found: true },
    });
  });

  test('5,000 evaluations of six checks stay cheap', () => {
    const block = { expected_in_answer: ['pip'], not_in_answer: ['x-y'], regex_match: '\\w+ install' };
    const start = performance.now();
    for (let i = 0; i < 5_000; i++) {
      const one = simpleTrace({ answer: `pip install ${i}`, tool_calls: [{ name: 'a' }] });
      const ctx = { trace: one, totals: totals(one) };
      evaluateLayer('correctness', block, ctx);
      evaluateLayer('path', { max_tool_calls: 3, expected_tools: ['a'] }, ctx);
      evaluateLayer('cost', { max_llm_calls: 3 }, ctx);
    }
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
