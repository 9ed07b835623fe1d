import { describe, expect, test } from 'vitest';
import { parseSpec } from './parse-spec.ts';

const suiteOf = (tests: string): ReturnType<typeof parseSpec> =>
  parseSpec(
    `configVersion: 1\nsuite: s\nmodel: trace\nsettings: {parallel: 4, cache: true}\ntests:\n${tests}`,
  );

describe('a test of the form expected: {type: …} is a query', () => {
  test.each([
    [
      '{type: must_contain, must_contain: [Hello]}',
      { correctness: { expected_in_answer: ['Hello'], case_sensitive: true } },
    ],
    [
      '{type: must_not_contain, must_not_contain: banana}',
      { correctness: { not_in_answer: ['banana'], case_sensitive: true } },
    ],
    [
      '[{must_contain: Paris}]',
      { correctness: { expected_in_answer: ['Paris'], case_sensitive: true } },
    ],
    ['{type: regex_match, pattern: "^a", flags: [i]}', { correctness: { regex_match: '(?i)^a' } }],
    [
      '{type: semantic_similarity_to, semantic_similarity_to: x y, min_score: 0.7}',
      { correctness: { similarity: { to: 'x y', min: 0.7 } } },
    ],
    [
      '{type: sequence_valid, rules: [{type: require, tool: a}]}',
      { path: { rules: [{ type: 'require', tool: 'a' }] } },
    ],
    [
      '{type: sequence_valid, sequence: [a, b]}',
      {
        path: {
          expected_calls: { mode: 'exact', args: 'ignore', calls: [{ tool: 'a' }, { tool: 'b' }] },
        },
      },
    ],
    [
      '{type: trace_tool_sequence, sequence: [a, b]}',
      { path: { expected_calls: { mode: 'exact', calls: [{ tool: 'a' }, { tool: 'b' }] } } },
    ],
    [
      '{type: trace_tool_sequence, sequence: [a, b], allow_other_tools: true}',
      { path: { expected_calls: { mode: 'in_order', calls: [{ tool: 'a' }, { tool: 'b' }] } } },
    ],
    ['{type: tool_blocklist, blocked: [rm]}', { path: { forbidden_tools: ['rm'] } }],
    [
      '{type: json_schema, json_schema: \'{"type": "object"}\'}',
      { correctness: { json_schema: { type: 'object' } } },
    ],
  ])('%s', (expected, wanted) => {
    const { suite, diagnostics } = suiteOf(
      `  - id: t\n    input: {prompt: Say hello}\n    expected: ${expected}\n`,
    );
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(suite?.queries[0]).toMatchObject({ id: 't', query: 'Say hello', ...wanted });
  });

  test('with a schema per tool it has a policy', () => {
    const { suite } = suiteOf(
      '  - id: t\n    input: {prompt: p}\n    expected:\n      type: args_valid\n      schema: {pay: {type: object, properties: {n: {type: integer, maximum: 3}}}}\n',
    );
    expect(suite?.queries[0]?.policies?.[0]?.tools.has('pay')).toBe(true);
  });
});

describe('what cannot be said here is refused at its line', () => {
  test.each([
    [
      '  - id: t\n    input: {prompt: p}\n    expected: {type: faithfulness, min_score: 0.8}\n',
      'SPEC_CHOICE',
      8,
      /hallucination_check/,
    ],
    ['  - id: t\n    input: {prompt: p}\n', 'SPEC_REQUIRED', 6, undefined],
    [
      '  - id: t\n    input: {prompt: p}\n    expected: {type: must_contain}\n',
      'SPEC_REQUIRED',
      8,
      undefined,
    ],
    [
      '  - id: t\n    input: {prompt: p}\n    expected: [{must_contain: a}, {must_contain: b}]\n',
      'SPEC_CHOICE',
      8,
      /tests of their own/,
    ],
    [
      '  - id: t\n    expected: {type: must_contain, must_contain: [a]}\n',
      'SPEC_REQUIRED',
      6,
      undefined,
    ],
  ])('%j', (tests, code, line, hint) => {
    const { suite, diagnostics } = suiteOf(tests);
    expect(suite).toBeUndefined();
    expect(diagnostics.find((each) => each.code === code)).toMatchObject({ code, line });
    if (hint !== undefined) expect(diagnostics.map((each) => each.hint).join()).toMatch(hint);
  });
});

test.each([
  ['^[[:alpha:]_]+$', '"[:alpha:]" in a set', 'write A-Za-z in its place'],
  ['[x[:^digit:]]', '"[:^digit:]" in a set', 'write the characters themselves'],
])('the POSIX class in %s is refused at its line', (pattern, message, hint) => {
  const { diagnostics } = suiteOf(
    `- {id: t, input: Hi, expected: {type: regex_match, pattern: '${pattern}'}}\n`,
  );
  const found = diagnostics.find(({ code }) => code === 'SPEC_REGEX');
  expect(found).toMatchObject({ severity: 'error', line: 6, hint });
  expect(found!.message).toContain(message);
});

test('a bracket and a colon that are no class of POSIX are read as they are', () => {
  const { diagnostics } = suiteOf(
    `- {id: t, input: Hi, expected: {type: regex_match, pattern: '\\[[:;]x[:a]'}}\n`,
  );
  expect(diagnostics).toEqual([]);
});

test('a file with tests of another tool is not called an Assay suite', () => {
  const { diagnostics } = parseSpec(
    'prompts: [p.txt]\nproviders: [openai:gpt-5]\ntests:\n  - vars: {x: 1}\n    assert: [{type: equals, value: a}]\n',
  );
  expect(diagnostics.length).toBeGreaterThan(0);
  expect(diagnostics.map(({ message }) => message).join()).not.toContain('Assay');
});
