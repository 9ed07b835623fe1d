import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { type ReportContext, reportText } from './reporter.ts';
import { reporter } from './sarif.ts';

interface Written {
  tool: {
    driver: {
      rules: {
        id: string;
        name: string;
        shortDescription: { text: string };
        defaultConfiguration: object;
      }[];
    };
  };
  invocations: object[];
  results: {
    level: string;
    message: { text: string };
    locations: object[];
    partialFingerprints: Record<string, string>;
  }[];
}
const write = (results: ShortResult[], rest = {}, context: Partial<ReportContext> = {}): Written =>
  (
    JSON.parse(reportText(reporter.render(runOf(results, rest), reportContext(context)))) as {
      runs: [Written];
    }
  ).runs[0];
const failing = (id: string, check = 'path.max_loops', rest = {}): ShortResult => ({
  id,
  status: 'fail',
  path: [checkOf(check, 'fail', rest)],
});

test('a finding has its level, its text, and its place from the root of the checkout', () => {
  const location = { file: 'my spec.yaml', line: 7, column: 9 };
  const { results } = write(
    [failing('a', 'path.max_loops', { location, message: 'loops: 2' })],
    {},
    {
      publicPath: (file) => `sub/${file}`,
    },
  );
  expect(results).toMatchObject([
    {
      ruleId: 'path.max_loops',
      level: 'error',
      message: { text: 'question of a: loops: 2' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'sub/my%20spec.yaml' },
            region: { startLine: 7, startColumn: 9 },
          },
        },
      ],
      properties: { query_id: 'a' },
    },
  ]);
});

test.each([
  {
    when: 'a check failed',
    results: [failing('a')],
    rest: {},
    invocation: { executionSuccessful: true, exitCode: 1 },
  },
  {
    when: 'a query could not be judged',
    results: [
      { id: 'a', status: 'error', error: { kind: 'agent', message: 'boom' } },
    ] as ShortResult[],
    rest: {},
    invocation: { executionSuccessful: false, exitCode: 2 },
  },
  {
    when: 'it was interrupted',
    results: [failing('a')],
    rest: { interrupted: true },
    invocation: { executionSuccessful: false },
  },
])('says whether the run itself went well when $when', ({ results, rest, invocation }) => {
  expect(write(results, rest).invocations).toMatchObject([invocation]);
});

test('a rule has the summary of its check, and warns by default if it only ever warned', () => {
  const { rules } = write(
    [failing('a'), { id: 'b', status: 'warn', cost: [checkOf('cost.max_cost_usd', 'warn')] }],
    { checks: [checkOf('traces.readable', 'error')] },
    { checkSummary: (id) => (id === 'path.max_loops' ? 'few loops' : undefined) },
  ).tool.driver;
  expect(
    rules.map(({ id, name, shortDescription: { text }, defaultConfiguration }) => [
      id,
      name,
      text,
      defaultConfiguration,
    ]),
  ).toEqual([
    [
      'cost.max_cost_usd',
      'CostMaxCostUsd',
      'The check cost.max_cost_usd of the spec.',
      { level: 'warning' },
    ],
    ['path.max_loops', 'PathMaxLoops', 'few loops', { level: 'error' }],
    [
      'traces.readable',
      'TracesReadable',
      'Every record of the given recordings can be read.',
      { level: 'error' },
    ],
  ]);
});

test('a fingerprint tells queries, checks, and findings about the whole run apart', () => {
  const { results } = write([failing('a'), failing('b'), failing('a', 'path.rules')], {
    checks: ['one', 'two'].map((message) => checkOf('traces.readable', 'error', { message })),
  });
  expect(
    new Set(results.map(({ partialFingerprints }) => partialFingerprints['agentci/v1'])).size,
  ).toBe(5);
});

test('a long message is cut to what GitHub shows', () => {
  const [result] = write([failing('a', 'path.max_loops', { message: 'x'.repeat(5000) })]).results;
  expect(result?.message.text).toHaveLength(2000);
  expect(result?.message.text.endsWith('x…')).toBe(true);
});
