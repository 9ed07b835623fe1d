import { existsSync, readdirSync } from 'node:fs';
import { type Block, called, evaluate } from '@agentci/testing/check-cases';
import vectors from '@agentci/testing/vectors/layers.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { CHECKS } from './index.gen.ts';

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
  expected: {
    status: string;
    skip_reason?: string;
    checks?: Record<string, string>;
    field: string;
  };
}
const rows = (kind: string): Row[] =>
  (vectors as unknown as Row[]).filter((row) => row.kind === kind);

describe('vectors', () => {
  test.each(rows('correctness.evaluate'))('$id $note', ({ input, expected }) => {
    expect(evaluate('correctness', input.spec, { answer: input.answer }).status).toBe(
      expected.status,
    );
  });
  test.each([...rows('path.evaluate'), ...rows('assert.subsequence')])(
    '$id $note',
    ({ input, expected }) => {
      const baseline = input.baseline_tools ? { baseline: called(...input.baseline_tools) } : {};
      const result = evaluate('path', input.spec, called(...input.used_tools), baseline);
      expect(result.status).toBe(expected.status);
      if (expected.skip_reason !== undefined)
        expect(result.checks[0]?.skip_reason).toBe(expected.skip_reason);
    },
  );
  test.each(rows('path.handoff'))('$id $note', ({ input, expected }) => {
    expect(evaluate('path', input.spec, { answer: 'ok', handoffs: input.handoffs }).status).toBe(
      expected.status,
    );
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
    expect(check?.inspect?.(params as never, {})).toMatchObject([
      { severity: 'error', code: 'SPEC_CANNOT_FAIL' },
    ]);
  });
});

test('there are the checks of the three layers, each key once', () => {
  expect(CHECKS.map(({ layer, key }) => `${layer}.${key}`).sort()).toMatchInlineSnapshot(`
    [
      "correctness.any_expected_in_answer",
      "correctness.case_sensitive",
      "correctness.contains_json",
      "correctness.exact_match",
      "correctness.expected_in_answer",
      "correctness.is_json",
      "correctness.json_schema",
      "correctness.length",
      "correctness.not_in_answer",
      "correctness.outcome",
      "correctness.regex_match",
      "correctness.severity",
      "correctness.similarity",
      "correctness.starts_with",
      "cost.max_cost_multiplier",
      "cost.max_cost_usd",
      "cost.max_latency_ms",
      "cost.max_llm_calls",
      "cost.max_total_tokens",
      "cost.severity",
      "every.all",
      "every.any",
      "every.code",
      "every.expr",
      "every.not",
      "path.expected_calls",
      "path.expected_handoff",
      "path.expected_handoffs_available",
      "path.expected_tool_args",
      "path.expected_tool_sequence",
      "path.expected_tools",
      "path.forbidden_calls",
      "path.forbidden_tools",
      "path.loops",
      "path.match_mode",
      "path.max_handoff_count",
      "path.max_identical_calls",
      "path.max_loops",
      "path.max_tool_calls",
      "path.max_tool_errors",
      "path.min_sequence_similarity",
      "path.min_tool_f1",
      "path.min_tool_precision",
      "path.min_tool_recall",
      "path.rules",
      "path.sequence_metric",
      "path.severity",
    ]
  `);
});

test.each(['correctness', 'path', 'cost', 'every'])(
  'every check of %s has its test beside it',
  (layer) => {
    const folder = new URL(`./${layer}/`, import.meta.url);
    const sources = readdirSync(folder).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    expect(
      sources.filter((name) => !existsSync(new URL(name.replace(/\.ts$/, '.test.ts'), folder))),
    ).toEqual([]);
  },
);
