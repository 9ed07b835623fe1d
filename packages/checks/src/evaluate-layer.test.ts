import { v } from '@agentci/lib/values';
import { called, evaluate } from '@agentci/testing/check-cases';
import { simpleTrace, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { type AnyCheck, defineCheck, held, violated } from './check.ts';
import { evaluateLayer } from './evaluate-layer.ts';

describe('evaluateLayer', () => {
  const location = { file: 'spec.yaml', line: 6, column: 7 };
  const plain = {
    severity: 'warn',
    summary: '',
    failure: { why: '', help: '' },
    example: 1,
  } as const;
  const broken: AnyCheck = defineCheck({
    layer: 'path',
    key: 'broken',
    ...plain,
    order: 1,
    schema: v.number(),
    evaluate: () => {
      throw new Error('boom');
    },
  });
  const fine: AnyCheck = defineCheck({
    layer: 'path',
    key: 'fine',
    ...plain,
    order: 2,
    schema: v.number(),
    evaluate: (limit) => (limit > 0 ? held('fine') : violated('not fine')),
  });
  const trace = simpleTrace(called('a', 'admin_x'));
  const context = { trace, totals: totals(trace) };

  test('blocks with other keys run other checks, however alike the keys look', () => {
    const checks = [fine, broken];
    const ids = (block: object) =>
      evaluateLayer('path', { ...block }, context, { checks }).checks.map(({ id }) => id);
    expect(ids({ 'fine,broken': 1 })).toEqual([]);
    expect(ids({ fine: 1, broken: 1 })).toEqual(['path.broken', 'path.fine']);
    expect(ids({ fine: 1 })).toEqual(['path.fine']);
    expect(ids({ fine: null, broken: 1 })).toEqual(['path.broken']);
    expect(ids({ fine: 1, broken: 1 })).toEqual(['path.broken', 'path.fine']);
  });

  test('a check that throws becomes an error of any severity, and the rest still runs', () => {
    const result = evaluateLayer('path', { fine: 1, broken: 1 }, context, {
      checks: [fine, broken],
    });
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

  test('a passing layer has one line, and a violation only its own', () => {
    expect(evaluateLayer('path', { max_tool_calls: 5, max_loops: 2 }, context).messages).toEqual([
      '2 checks passed',
    ]);
    const result = evaluateLayer(
      'path',
      { max_tool_calls: 5, forbidden_tools: ['admin_*'] },
      context,
      {
        locations: { 'path.forbidden_tools': location },
      },
    );
    expect(result).toMatchObject({
      status: 'fail',
      details: { tool_calls: { actual: 2, max: 5 }, forbidden_tools: { violations: ['admin_x'] } },
      checks: [
        { id: 'path.max_tool_calls', status: 'pass', value: 2, limit: 5 },
        {
          id: 'path.forbidden_tools',
          status: 'fail',
          value: 1,
          limit: 0,
          location,
          evidence: [{ call: 2 }],
        },
      ],
    });
    expect(result.messages).toHaveLength(1);
    expect(result.checks[1]?.evidence[0]?.step).toBe(trace.steps.at(-1)?.seq);
  });

  test('the cost layer always reports usage, unknown as null', () => {
    expect(
      evaluate('cost', { max_llm_calls: 3 }, { answer: '', total_tokens: 12, cost_usd: 0.00000123 })
        .details,
    ).toEqual({
      actual: { cost_usd: 0.00000123, total_tokens: 12, llm_calls: null, latency_ms: null },
    });
    const given = { baseline: { answer: '', total_tokens: 10, cost_usd: 0.1, latency_ms: 100 } };
    const result = evaluate(
      'cost',
      {},
      { answer: '', total_tokens: 12, cost_usd: 0.25, latency_ms: 150 },
      given,
    );
    expect(result.details).toMatchObject({
      cost_multiplier: 2.5,
      token_multiplier: 1.2,
      latency_multiplier: 1.5,
    });
    // Ratios compare with limits, not with the baseline.
    const limits = { max_total_tokens: 24, max_latency_ms: 100 };
    const limited = evaluate(
      'cost',
      limits,
      { answer: '', total_tokens: 12, latency_ms: 150 },
      given,
    ).details;
    expect(limited).toMatchObject({ token_ratio: 0.5, latency_ratio: 1.5, token_multiplier: 1.2 });
    expect(
      evaluate('cost', { max_llm_calls: 1 }, { answer: '', total_tokens: 12 }).details,
    ).not.toHaveProperty('token_ratio');
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
      evaluate('correctness', { expected_in_answer: ['a'], not_in_answer: ['b'] }, { answer: 'a' })
        .details,
    ).toEqual({
      expected_in_answer: { checked: ['a'], all_found: true },
      not_in_answer: { checked: ['b'], none_found: true },
    });
  });

  test('5,000 evaluations of six checks stay cheap', () => {
    const block = {
      expected_in_answer: ['pip'],
      not_in_answer: ['x-y'],
      regex_match: '\\w+ install',
    };
    const start = performance.now();
    for (let i = 0; i < 5_000; i++) {
      const one = simpleTrace({ answer: `pip install ${i}`, tool_calls: [{ name: 'a' }] });
      const ctx = { trace: one, totals: totals(one) };
      evaluateLayer('correctness', block, ctx);
      evaluateLayer('path', { max_tool_calls: 3, expected_tools: ['a'] }, ctx);
      evaluateLayer('cost', { max_llm_calls: 3 }, ctx);
    }
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
