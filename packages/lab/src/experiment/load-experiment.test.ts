import { describe, expect, test } from 'vitest';
import { parseExperiment } from './load-experiment.ts';

const parse = (text: string) => parseExperiment(text, { file: 'e.yaml' });
const VALID = `version: 1
experiment: demo
query: What now?
ground_truth: [rollback x, restart y]
profile: {base: upstream, services: [ledger], version_pattern: 'b\\d+', contradictions: [[open, close]]}
weights: {validity: 0.2, specificity: 0.4, correctness: 0.4}
seed: 7
trials: 3
conditions:
  a: {simulate: {t2u_s: {mean: 10, sd: 1}, actions: []}}
  b: {runner: {command: [node, agent.mjs]}, trials: 5}
  c: {traces: ./c.jsonl, exclude: [1, x]}
  d: {data: {file: d.csv, condition: D}}
  e: {runner: {replay: ./e}}
`;

test('every kind of condition is read', () => {
  const { plan, diagnostics } = parse(VALID);
  expect(diagnostics).toEqual([]);
  expect(plan).toMatchObject({
    name: 'demo',
    seed: 7,
    profileName: 'upstream, adapted',
    scoring: {
      groundTruth: ['rollback x', 'restart y'],
      actions: 'list',
      profile: { base: 'upstream', services: ['ledger'] },
    },
  });
  expect(plan!.conditions.map(({ name, source }) => [name, source.kind])).toEqual([
    ['a', 'simulate'],
    ['b', 'runner'],
    ['c', 'traces'],
    ['d', 'data'],
    ['e', 'traces'],
  ]);
  expect(plan!.conditions[0]!.source).toMatchObject({
    trials: 3,
    simulation: { t2u: { mean: 10, sd: 1 }, actions: [] },
  });
  expect(plan!.conditions[1]!.source).toMatchObject({ trials: 5, query: 'What now?' });
  expect(plan!.conditions[2]!.exclude).toEqual(new Set(['1', 'x']));
});

test('options of the command line win and change the hash', () => {
  const { plan } = parse(VALID);
  const changed = parseExperiment(VALID, { file: 'e.yaml', overrides: { trials: 9, seed: 1 } })
    .plan!;
  expect(changed.conditions[1]!.source).toMatchObject({ trials: 9 });
  expect(changed.seed).toBe(1);
  expect(changed.hash).not.toBe(plan!.hash);
});

describe('each problem has its location', () => {
  const head = 'experiment: demo\nconditions:\n';
  test.each([
    {
      when: 'a root key is misspelt',
      text: `trails: 3\n${head}  a: {simulate: {}}`,
      code: 'SPEC_UNKNOWN_KEY',
      line: 1,
      column: 1,
    },
    {
      when: 'a key of a condition is misspelt',
      text: `${head}  a: {simulte: {}}`,
      code: 'SPEC_UNKNOWN_KEY',
      line: 3,
      column: 7,
    },
    {
      when: 'there are no conditions',
      text: 'experiment: demo',
      code: 'SPEC_REQUIRED',
      line: 1,
      column: 1,
    },
    {
      when: 'conditions are a list',
      text: 'experiment: demo\nconditions: [a]',
      code: 'SPEC_VALUE',
      line: 2,
      column: 13,
    },
    {
      when: 'conditions are empty',
      text: 'experiment: demo\nconditions: {}',
      code: 'SPEC_EMPTY',
      line: 2,
      column: 13,
    },
    {
      when: 'a condition has no source',
      text: `${head}  a: {trials: 3}`,
      code: 'DATA_INVALID',
      line: 3,
      column: 6,
    },
    {
      when: 'a condition has two',
      text: `${head}  a: {traces: x, data: y}`,
      code: 'DATA_INVALID',
      line: 3,
      column: 18,
    },
    {
      when: 'an agent has nothing to answer',
      text: `${head}  a: {runner: {module: ./a.mjs}}`,
      code: 'SPEC_REQUIRED',
      line: 3,
      column: 6,
    },
    {
      when: 'a runner has no kind',
      text: `query: q\n${head}  a: {runner: {modul: x}}`,
      code: 'SPEC_VALUE',
      line: 4,
      column: 15,
    },
    {
      when: 'recordings have a number of trials',
      text: `${head}  a: {traces: x, trials: 3}`,
      code: 'SPEC_VALUE',
      line: 3,
      column: 18,
    },
    {
      when: 'weights do not add up',
      text: `weights: {validity: 1, specificity: 1, correctness: 0}\n${head}  a: {simulate: {}}`,
      code: 'SPEC_VALUE',
      line: 1,
      column: 10,
    },
    {
      when: 'a weight is negative',
      text: `weights: {validity: -1, specificity: 1, correctness: 1}\n${head}  a: {simulate: {}}`,
      code: 'SPEC_VALUE',
      line: 1,
      column: 21,
    },
    {
      when: 'the pattern is invalid',
      text: `profile: {version_pattern: '('}\n${head}  a: {simulate: {}}`,
      code: 'SPEC_BAD_PATTERN',
      line: 1,
      column: 28,
    },
    {
      when: 'a spread is negative',
      text: `${head}  a: {simulate: {t2u_s: {mean: 1, sd: -1}}}`,
      code: 'SPEC_VALUE',
      line: 3,
      column: 39,
    },
    { when: 'the YAML is broken', text: 'experiment: [', code: 'YAML_SYNTAX', line: 1, column: 14 },
    { when: 'it is a list', text: '- a', code: 'SPEC_VALUE', line: 1, column: 1 },
  ])('$when', ({ text, code, line, column }) => {
    const { plan, diagnostics } = parse(text);
    expect(plan).toBeUndefined();
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toContainEqual(
      expect.objectContaining({ code, line, column }),
    );
  });
});
