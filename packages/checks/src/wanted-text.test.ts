import { describe, expect, test } from 'vitest';
import { isCheck } from './check.ts';
import { CHECKS } from './index.gen.ts';
import { JUDGED } from './judged.ts';
import { wantedText } from './wanted-text.ts';

/** Parameters of checks, and what their words must contain. */
const CASES: Readonly<Record<string, readonly [params: unknown, says: RegExp]>> = {
  expected_in_answer: [['Oslo', 'parcel'], /contains all of "Oslo", "parcel"/],
  any_expected_in_answer: [['Oslo'], /at least one of "Oslo"/],
  not_in_answer: [['sorry'], /none of "sorry"/],
  exact_match: ['yes', /exactly "yes"/],
  regex_match: ['^\\d+$', /pattern \^\\d\+\$/],
  starts_with: ['Dear', /starts with "Dear"/],
  is_json: [true, /is JSON/],
  contains_json: [{ schema: { type: 'object' } }, /schema \{"type":"object"\}/],
  json_schema: [{ required: ['id'] }, /conforms to the schema \{"required":\["id"\]\}/],
  length: [{ min: 2, max: 9, unit: 'words' }, /at least 2 and at most 9 words/],
  similarity: [{ to: 'Oslo', min: 0.8 }, /at least 0\.8 to "Oslo"/],
  outcome: [{ name: 'reward', min: 1 }, /outcome reward is at least 1/],
  llm_judge: [[{ rule: 'is polite', threshold: 0.8 }], /at least 4 of 5 for: is polite/],
  safety_check: [{ rule: 'asks for no secrets' }, /asks for no secrets/],
  hallucination_check: [{ template: 'factual_grounded' }, /at least \d of 5 for: \w+/],
  expected_tools: [['search', 'book'], /tools search, book/],
  expected_tool_sequence: [['search', 'book'], /search, then book/],
  expected_calls: [
    { calls: [{ tool: 'search', args: { q: 'x' } }] },
    /in this order, others allowed: search\(q: "x"\)/,
  ],
  expected_tool_args: [[{ tool: 'search', args: { q: 'x' } }], /search\(q: "x"\)/],
  forbidden_calls: [[{ tool: 'delete', args: { all: true } }], /No calls like delete\(all: true\)/],
  forbidden_tools: [['admin_*'], /No calls of the tools admin_\*/],
  expected_handoff: ['billing', /handoff to billing/],
  expected_handoffs_available: [['billing'], /available to billing/],
  match_mode: ['strict', /baseline \(strict\)/],
  max_handoff_count: [2, /At most 2 handoffs/],
  max_identical_calls: [1, /At most 1 identical call$/],
  max_loops: [0, /No loops/],
  loops: [{ cycle: 3 }, /No repetitions of cycles of up to 3 tools/],
  max_tool_calls: [1, /At most 1 tool call$/],
  max_tool_errors: [0, /No failed tool calls/],
  min_sequence_similarity: [0.8, /at least 0\.8/],
  min_tool_f1: [0.8, /F1 of at least 0\.8/],
  min_tool_precision: [0.8, /precision of at least 0\.8/],
  min_tool_recall: [0.8, /recall of at least 0\.8/],
  rules: [[{ type: 'before', first: 'check', then: 'refund' }], /before: first check, then refund/],
  max_cost_multiplier: [2, /2 × the cost/],
  max_cost_usd: [0.1, /\$0\.1000/],
  max_latency_ms: [86_400_000, /at most 24 h/],
  max_llm_calls: [3, /At most 3 model calls/],
  max_total_tokens: [12_000, /12,000 tokens/],
  all: [[{ max_tool_calls: 2 }, { max_loops: 0 }], /All of \(At most 2 tool calls\) \(No loops\)/],
  any: [[{ expected_in_answer: ['a'] }], /At least one of \(The answer contains all of "a"\)/],
  not: [{ expected_in_answer: ['a'] }, /Not \(The answer contains/],
  expr: ['size(calls) < 3', /is true: size\(calls\) < 3/],
  code: [{ module: './check.mjs' }, /\.\/check\.mjs/],
};

describe('what a check wants, in words', () => {
  const checks = [...new Map([...CHECKS, ...JUDGED].filter(isCheck).map((it) => [it.key, it]))];

  test.each(checks)('%s, with its example', (_, check) => {
    const wanted = wantedText(check, check.example);
    expect(wanted).not.toMatch(/^[\d\s.,]*$|^\{|\[object|undefined/);
    expect(wanted).toMatch(/[a-z]{2,} /i);
  });

  test.each(Object.entries(CASES))('%s says its parameters', (key, [params, says]) => {
    expect(wantedText(new Map(checks).get(key)!, params)).toMatch(says);
  });

  test('parameters that make no sense give no words, and no error', () => {
    for (const [, check] of checks) expect(() => wantedText(check, null)).not.toThrow();
  });
});
