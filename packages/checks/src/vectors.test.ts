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

test('each layer has a key once', () => {
  const ids = CHECKS.map(({ layer, key }) => `${layer}.${key}`);
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  expect(ids.length).toBeGreaterThan(40);
});

test.each(['correctness', 'path', 'cost', 'every'])(
  'every check of %s has a test next to it',
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
