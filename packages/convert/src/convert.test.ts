import { convertFiles } from '@agentci/testing/convert';
import { describe, expect, test } from 'vitest';

const config = (tests: readonly object[], rest: object = {}) => ({
  'promptfooconfig.json': { prompts: ['{{q}}'], providers: ['echo'], tests, ...rest },
});
const contains = (value: string, rest: object = {}) => ({ type: 'contains', value, ...rest });
const CODE = { type: 'javascript', value: 'true' };

describe('nothing is green by loss', () => {
  test('a case without a carried check is skipped with the reason, and counted', async () => {
    const { report, suite, judge } = await convertFiles(
      config([{ vars: { q: 'a' }, assert: [CODE] }, { vars: { q: 'b' } }]),
    );
    expect(report.counts).toEqual({ exact: 0, close: 0, none: 1, cases: 2, skipped: 2 });
    expect(suite.queries.map(({ skip }) => skip)).toEqual([
      'nothing was carried over: javascript',
      'nothing to convert: the source checks nothing here',
    ]);
    expect(await judge([{ query: 'a', answer: 'x' }])).toEqual({
      'test-1': 'skip',
      'test-2': 'skip',
    });
  });

  test.each([
    { when: 'a member is code', members: [contains('a'), CODE] },
    {
      when: 'a member has a score between 0 and 1',
      members: [contains('a'), { type: 'llm-rubric', value: 'polite' }],
    },
    {
      when: 'members are in two layers',
      members: [contains('a'), { type: 'latency', threshold: 5 }],
    },
  ])('a set with a threshold is not carried at all when $when', async ({ members }) => {
    const set = { type: 'assert-set', threshold: 0.5, assert: members };
    const { verdicts, report } = await convertFiles(config([{ vars: { q: 'a' }, assert: [set] }]), {
      lossy: true,
    });
    expect(verdicts).toEqual(['assert-set none', ...members.map(({ type }) => `${type} none`)]);
    expect(report.counts.skipped).toBe(1);
  });

  test('a set without a threshold keeps the carried parts, and the report lists the others', async () => {
    const set = { type: 'assert-set', assert: [contains('a'), CODE] };
    const { verdicts, judge } = await convertFiles(config([{ vars: { q: 'q' }, assert: [set] }]));
    expect(verdicts).toEqual(['contains exact', 'javascript none']);
    expect(await judge([{ query: 'q', answer: 'b' }])).toEqual({ 'test-1': 'fail' });
  });

  test('a transform makes the assertions that look at the answer none, and leaves the others', async () => {
    const assert = [contains('a'), { type: 'latency', threshold: 5 }];
    const { verdicts } = await convertFiles(
      config([{ vars: { q: 'q' }, options: { transform: 'output.x' }, assert }]),
    );
    expect(verdicts).toEqual(['contains none', 'latency exact']);
  });

  test.each([0, -1])('a threshold of %s cannot fail and is not carried', async (threshold) => {
    const { report } = await convertFiles(
      config([{ vars: { q: 'q' }, threshold, assert: [contains('a')] }]),
    );
    expect(report.counts).toMatchObject({ exact: 0, skipped: 1 });
  });

  test('a check that the spec refuses is none, with what the spec says', async () => {
    const { report } = await convertFiles(
      config([
        { vars: { q: 'q' }, assert: [{ type: 'word-count', value: { min: 0 } }, contains('a')] },
      ]),
    );
    expect(report.assertions[0]).toMatchObject({
      verdict: 'none',
      why: 'length with min: 0 alone cannot fail',
    });
    expect(report.assertions[1]).toMatchObject({ verdict: 'exact' });
  });
});

describe('close', () => {
  const tests = [{ vars: { q: 'q' }, assert: [contains('a'), { type: 'similar', value: 'b' }] }];
  test('is left out unless asked for', async () => {
    const { spec, report } = await convertFiles(config(tests));
    expect(report.counts).toMatchObject({ exact: 1, close: 1 });
    expect(spec).not.toContain('similarity:');
    expect(spec).toContain('# not carried: similar (promptfooconfig.json:1), close');
  });
  test('is written with a comment when asked for', async () => {
    const { spec } = await convertFiles(config(tests), { lossy: true });
    expect(spec).toMatch(/# close: similar .*\n {6}similarity: \{to: b/);
  });
  test('the opposite of something close is close', async () => {
    const { verdicts } = await convertFiles(
      config([{ vars: { q: 'q' }, assert: [{ type: 'not-similar', value: 'b' }] }]),
    );
    expect(verdicts).toEqual(['not-similar close']);
  });
});

describe('severity', () => {
  const slow = { type: 'latency', threshold: 10 };
  test('a cost assertion that failed the case there fails it here', async () => {
    const { judge } = await convertFiles(config([{ vars: { q: 'q' }, assert: [slow] }]));
    expect(await judge([{ query: 'q', answer: 'a', latency_ms: 11 }])).toEqual({
      'test-1': 'fail',
    });
    expect(await judge([{ query: 'q', answer: 'a' }])).toEqual({ 'test-1': 'error' });
  });
  test('it is kept where cases are in a table', async () => {
    const tests = Array.from({ length: 60 }, (_, i) => ({ vars: { q: `q${i}` }, assert: [slow] }));
    const { judge, report } = await convertFiles(config(tests));
    expect(report.files).toContain('rows/cases.jsonl');
    expect((await judge([{ query: 'q7', answer: 'a', latency_ms: 11 }]))['test-8']).toBe('fail');
  });
  test('an assertion of weight 0 only warns', async () => {
    const { judge } = await convertFiles(
      config([{ vars: { q: 'q' }, assert: [contains('x', { weight: 0 }), contains('a')] }]),
    );
    expect(await judge([{ query: 'q', answer: 'a' }])).toEqual({ 'test-1': 'warn' });
  });
});

describe('texts', () => {
  const odd = [
    '{{',
    '\\{{x}}',
    '}}',
    "it's",
    '# no',
    '- no',
    'a: b',
    'yes',
    '1',
    '',
    ' x ',
    '\u0000',
    'a\n\nb',
    '\u2028',
    '\ud83d\ude00',
    '*a',
    '&a',
    '!!js/function x',
    '"',
    "'",
    '\\',
    '\t',
  ];
  test('are carried as they are, as queries and as rows', async () => {
    const cases = [
      ...odd,
      ...odd.map((text) => `w ${text}`),
      ...odd.map((text) => `${text} w`),
    ].filter((text) => text.trim() !== '');
    const golden = cases.map((input, i) => ({
      id: `g${i}`,
      input,
      target: input.replaceAll('{{', '(('),
    }));
    for (const list of [golden, golden.slice(0, 20)]) {
      const { suite } = await convertFiles(
        { 'samples.jsonl': list.map((one) => `${JSON.stringify(one)}\n`).join('') },
        { map: { scorer: 'includes' } },
      );
      expect(suite.queries.map(({ query }) => query)).toEqual(list.map(({ input }) => input));
    }
  });
  test('similar names get separate ids', async () => {
    const tests = ['A b', 'a-b', 'A/b', '../..', '', '日本'].map((description) => ({
      description,
      vars: { q: 'q' },
      assert: [contains('a')],
    }));
    const { suite } = await convertFiles(config(tests));
    const ids = suite.queries.map(({ id }) => id);
    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(6);
    expect(ids.every((id) => /^[A-Za-z0-9][\w.-]*$/.test(id))).toBe(true);
  });
});

test('an assertion of the defaults is one line of the report, with the worst of what it became', async () => {
  const { report } = await convertFiles(
    config([{ vars: { q: 'a' } }, { vars: { q: 'b' }, options: { transform: 'x' } }], {
      defaultTest: { assert: [contains('{{q}}')] },
    }),
  );
  expect(report.assertions).toHaveLength(1);
  expect(report.assertions[0]).toMatchObject({ type: 'contains', verdict: 'none' });
});

test('positions are lines of the file that an assertion is in', async () => {
  const { report } = await convertFiles({
    'promptfooconfig.yaml':
      'prompts: ["{{q}}"]\nproviders: [echo]\ntests:\n  - file://a.yaml\n  - file://b.csv\n  - file://c.jsonl\n',
    'a.yaml': '- vars: {q: x}\n  assert:\n    - type: contains\n      value: a\n',
    'b.csv': 'q,__expected\nx,contains: a\n"two\nlines",equals: b\n',
    'c.jsonl':
      '{"vars":{"q":"x"},"assert":[{"type":"contains","value":"a"}]}\n\n{"vars":{"q":"y"},"assert":[{"type":"is-json"}]}\n',
  });
  expect(report.assertions.map(({ file, line, type }) => `${file}:${line} ${type}`)).toEqual([
    'a.yaml:3 contains',
    'b.csv:2 contains',
    'b.csv:3 equals',
    'c.jsonl:1 contains',
    'c.jsonl:3 is-json',
  ]);
});
