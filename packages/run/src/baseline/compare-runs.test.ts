import type { CheckStatus, RunResult } from '@agentci/results';
import { seededRandom } from '@agentci/stats';
import { runOf } from '@agentci/testing/run-of';
import { describe, expect, test } from 'vitest';
import { compareMetrics, type Observation } from './compare-metrics.ts';
import { compareRuns } from './compare-runs.ts';

const run = (
  statuses: readonly CheckStatus[],
  usage: (i: number) => object = () => ({}),
): RunResult => {
  const made = runOf(statuses.map((status, i) => ({ id: `q${i}`, status })));
  return {
    ...made,
    results: made.results.map((result, i) => ({
      ...result,
      cost: { ...result.cost, details: { actual: usage(i) } },
    })),
  };
};
const many = (n: number, status: CheckStatus): CheckStatus[] =>
  Array.from({ length: n }, () => status);
const rate = (comparison: ReturnType<typeof compareRuns>) =>
  comparison.metrics.find(({ metric }) => metric === 'pass_rate')!;

test('a certain result comes before open questions in the numbers', () => {
  const usage = (i: number) => ({ cost_usd: 0.01 * (i + 1) });
  const { headline } = compareRuns({
    before: run(['pass', 'pass', 'warn'], usage),
    after: run(['warn', 'pass', 'warn'], (i) => ({ cost_usd: 0.02 * (i + 1) })),
  });
  expect(headline).toMatch(/^1 query passed before and now warns: "q0"\. /);
});

describe('verdicts', () => {
  test('half of forty queries broke: worse, and how badly', () => {
    const found = compareRuns({
      before: run(many(40, 'pass')),
      after: run([...many(20, 'pass'), ...many(20, 'fail')]),
    });
    expect(rate(found)).toMatchObject({
      verdict: 'worse',
      test: 'mcnemar',
      pairs: 40,
      severity: 'critical',
    });
    expect(found.flips).toHaveLength(20);
    expect(found.summary).toMatchObject({ worse: 1, exit_code: 1 });
  });

  test('half of forty queries mended: better', () => {
    const found = compareRuns({
      before: run([...many(20, 'pass'), ...many(20, 'fail')]),
      after: run(many(40, 'pass')),
    });
    expect(rate(found)).toMatchObject({ verdict: 'better' });
    expect(found.summary.exit_code).toBe(0);
  });

  test('one query of twelve broke: it may be chance, and the number of queries that would tell is given', () => {
    const found = compareRuns({
      before: run(many(12, 'pass')),
      after: run([...many(11, 'pass'), 'fail']),
    });
    expect(rate(found)).toMatchObject({
      verdict: 'inconclusive',
      needed_pairs: expect.any(Number),
    });
    expect(rate(found).needed_pairs).toBeGreaterThan(12);
  });

  test.each([
    { before: 'pass', after: 'fail', regressions: 1, exit_code: 1 },
    { before: 'warn', after: 'fail', regressions: 1, exit_code: 1 },
    { before: 'fail', after: 'fail', regressions: 0, exit_code: 0 },
    { before: 'fail', after: 'pass', regressions: 0, exit_code: 0 },
    { before: 'pass', after: 'warn', regressions: 0, exit_code: 0 },
    { before: 'pass', after: 'error', regressions: 0, exit_code: 2 },
    { before: 'error', after: 'fail', regressions: 0, exit_code: 0 },
    { before: 'error', after: 'error', regressions: 0, exit_code: 0 },
  ] as const)(
    'one query of twelve goes $before → $after: $regressions regressions, exit $exit_code',
    (row) => {
      const side = (status: CheckStatus) => run([...many(11, 'pass'), status]);
      const { summary } = compareRuns({ before: side(row.before), after: side(row.after) });
      expect(summary).toMatchObject({ regressions: row.regressions, exit_code: row.exit_code });
    },
  );

  test('strict: an inconclusive comparison exits 2', () => {
    const sides = { before: run([...many(11, 'pass'), 'fail']), after: run(many(12, 'pass')) };
    expect(compareRuns(sides).summary.exit_code).toBe(0);
    expect(compareRuns({ ...sides, strict: true }).summary.exit_code).toBe(2);
  });

  test('fewer than ten queries decide no metric, but flipped verdicts are still listed', () => {
    const found = compareRuns({
      before: run(many(6, 'pass'), () => ({ cost_usd: 0.01 })),
      after: run(many(6, 'fail'), (i) => ({ cost_usd: 0.02 + i / 1000 })),
    });
    expect(rate(found)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'too_few_pairs',
      test: 'mcnemar',
      p: 0.015625,
    });
    expect(found.summary).toMatchObject({ regressions: 6, exit_code: 1 });
    expect(found.metrics[1]).toMatchObject({
      metric: 'cost_usd',
      verdict: 'inconclusive',
      reason: 'too_few_pairs',
    });
  });

  test('equal verdicts count as no difference only if there are enough of them', () => {
    const same = (n: number, maxDrop: number) =>
      rate(
        compareRuns({
          before: run(many(n, 'pass')),
          after: run(many(n, 'pass')),
          maxDrop: { pass_rate: maxDrop },
        }),
      );
    expect(same(3, 0.05)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'identical',
      p: 1,
      needed_pairs: 73,
    });
    expect(same(72, 0.05).verdict).toBe('inconclusive');
    expect(same(73, 0.05)).toMatchObject({ verdict: 'no_difference', needed_pairs: null });
  });

  test('the p-value of a pass rate comes from its own verdicts, and the decision corrects for the other metrics', () => {
    const found = compareRuns({
      before: run(many(4, 'pass'), () => ({ cost_usd: 0.01, latency_ms: 5, total_tokens: 9 })),
      after: run([...many(3, 'pass'), 'fail'], () => ({
        cost_usd: 0.01,
        latency_ms: 5,
        total_tokens: 9,
      })),
    });
    expect(rate(found)).toMatchObject({ p: 0.5, p_adjusted: 1, damage: { mean: 0.25 } });
  });

  test('a gain that is not certain is inconclusive, and strict lets it pass once a loss is ruled out', () => {
    const gain = (i: number) => ({ cost_usd: i % 2 === 0 ? 1 : 1 - ((i % 10) / 10) * 1.2 });
    const sides = {
      before: run(many(200, 'pass'), () => ({ cost_usd: 1 })),
      after: run(many(200, 'pass'), gain),
    };
    const found = compareRuns({
      ...sides,
      strict: true,
      maxDrop: { cost_usd: 0.05 },
      better: { cost_usd: 'higher' },
    });
    expect(found.metrics[1]).toMatchObject({ verdict: 'worse' });
    const other = compareRuns({ ...sides, strict: true, maxDrop: { cost_usd: 0.05 } });
    expect(other.summary.exit_code).toBe(0);
  });

  test('queries of one side only, and queries without a verdict, are named and not counted', () => {
    const found = compareRuns({
      before: run(['pass', 'error', 'pass']),
      after: run(['pass', 'pass']),
    });
    expect(found).toMatchObject({ only_before: ['q2'], only_after: [], undecided: ['q1'] });
    expect(rate(found).pairs).toBe(1);
  });

  test.each([
    { what: 'on both sides', marks: [true, true], own: ['fail', 'fail'], flips: 0, regressions: 0 },
    {
      what: 'that used to pass',
      marks: [false, true],
      own: ['pass', 'fail'],
      flips: 0,
      regressions: 0,
    },
    {
      what: 'that is mended',
      marks: [true, false],
      own: ['fail', 'pass'],
      flips: 1,
      regressions: 0,
    },
    {
      what: 'that is not expected any more',
      marks: [true, false],
      own: ['fail', 'fail'],
      flips: 0,
      regressions: 0,
    },
  ] as const)(
    'an expected failure $what does not count in the pass rate',
    ({ marks, own, flips, regressions }) => {
      const side = (at: 0 | 1) => {
        const made = run(['pass', 'pass', marks[at] ? 'skip' : own[at]]);
        const [first, second, last] = made.results;
        const xfail = marks[at] ? { xfail: { reason: 'known', status: own[at] } } : {};
        return { ...made, results: [first!, second!, { ...last!, ...xfail }] };
      };
      const found = compareRuns({ before: side(0), after: side(1) });
      expect(rate(found)).toMatchObject({ pairs: 2, before_mean: 1, after_mean: 1 });
      expect(found.undecided).toEqual(['q2']);
      expect(found.flips).toHaveLength(flips);
      expect(found.summary).toMatchObject({ regressions, exit_code: 0 });
    },
  );

  test('nothing in common is not a comparison', () => {
    expect(compareRuns({ before: run([]), after: run(['pass']) }).summary.exit_code).toBe(2);
  });

  test('repeats of a query are averaged, so that they do not pass for queries', () => {
    const repeated = (passed: number): RunResult => {
      const made = run(many(12, 'pass'));
      return {
        ...made,
        results: made.results.map((result) => ({
          ...result,
          runs: Array.from({ length: 10 }, (_, i) => ({
            run: i + 1,
            status: i < passed ? ('pass' as const) : ('fail' as const),
            messages: [],
          })),
        })),
      };
    };
    expect(rate(compareRuns({ before: repeated(10), after: repeated(4) }))).toMatchObject({
      pairs: 12,
      test: 'sign_flip',
      before_mean: 1,
      after_mean: expect.closeTo(0.4, 12),
      verdict: 'worse',
    });
  });
});

describe('numbers', () => {
  const noisy = (base: number) => (i: number) => ({
    cost_usd: base * (1 + 0.02 * Math.sin(i * 7)),
    latency_ms: 900,
  });

  test('a price that doubled is worse, and lower is better', () => {
    const found = compareRuns({
      before: run(many(20, 'pass'), noisy(0.01)),
      after: run(many(20, 'pass'), noisy(0.02)),
    });
    expect(found.metrics).toMatchObject([
      { metric: 'pass_rate', verdict: 'inconclusive', reason: 'identical' },
      {
        metric: 'cost_usd',
        better: 'lower',
        verdict: 'worse',
        severity: 'critical',
        test: 'sign_flip',
      },
      { metric: 'latency_ms', verdict: 'no_difference' },
    ]);
  });

  test('a significant loss within the limit is reported as such, and a tighter limit makes it worse', () => {
    const sides = {
      before: run(many(20, 'pass'), noisy(0.01)),
      after: run(many(20, 'pass'), noisy(0.011)),
    };
    const cost = (found: ReturnType<typeof compareRuns>) =>
      found.metrics.find(({ metric }) => metric === 'cost_usd');
    const found = compareRuns(sides);
    expect(cost(found)?.verdict).toBe('worse_within_limit');
    expect(found.verdict).toBe('worse_within_limit');
    expect(found.headline).toContain('Worse beyond chance, within the limit: cost (+10 %).');
    expect(found.summary).toMatchObject({ worse: 0, exit_code: 0 });
    expect(cost(compareRuns({ ...sides, maxRegressionPercent: 5 }))?.verdict).toBe('worse');
    expect(cost(compareRuns({ ...sides, maxDrop: { cost_usd: 0.0001 } }))?.verdict).toBe('worse');
  });

  test('a loss with only its mean above the limit is inconclusive, even if the loss itself is certain', () => {
    const grown = (i: number) => ({ cost_usd: 0.01 * (1.12 + 0.1 * Math.sin(i * 7)) });
    const found = compareRuns({
      before: run(many(20, 'pass'), () => ({ cost_usd: 0.01 })),
      after: run(many(20, 'pass'), grown),
      maxDrop: { cost_usd: 0.001 },
    }).metrics[1]!;
    expect(found.damage.mean).toBeGreaterThan(0.001);
    expect(found.p_adjusted).toBeLessThan(0.01);
    expect(found).toMatchObject({
      verdict: 'inconclusive',
      reason: 'near_limit',
      needed_pairs: expect.any(Number),
    });
  });

  test.each([
    {
      what: 'more expensive, perhaps by more than is allowed',
      by: 1.12,
      words: 'Worse, beyond chance, and perhaps by more than is allowed: cost (+13 %).',
    },
    { what: 'cheaper', by: 0.88, words: 'Better, beyond chance: cost (−11 %).' },
  ])('the headline names the certain result: $what', ({ by, words }) => {
    const { headline } = compareRuns({
      before: run(many(20, 'pass'), () => ({ cost_usd: 0.01 })),
      after: run(many(20, 'pass'), (i) => ({ cost_usd: 0.01 * (by + 0.1 * Math.sin(i * 7)) })),
      maxDrop: { cost_usd: 0.001 },
    });
    expect(headline).toContain(words);
    expect(headline).not.toContain('No number moved');
    expect(headline).not.toMatch(/Inconclusive:.*cost/);
  });

  test('a fluctuating price counts as no difference', () => {
    const wavers = (turn: number) => (i: number) => ({
      cost_usd: 0.01 * (1 + 0.02 * Math.sin(i * 7 + turn)),
    });
    const found = compareRuns({
      before: run(many(20, 'pass'), wavers(0)),
      after: run(many(20, 'pass'), wavers(2)),
    });
    expect(found.metrics[1]).toMatchObject({ metric: 'cost_usd', verdict: 'no_difference' });
    expect(found.headline).toContain('No number moved by more than is allowed.');
  });

  test('growth from zero is flagged', () => {
    const found = compareRuns({
      before: run(many(20, 'pass'), () => ({ cost_usd: 0 })),
      after: run(many(20, 'pass'), noisy(0.01)),
    });
    expect(found.metrics[1]).toMatchObject({
      metric: 'cost_usd',
      reason: 'zero_baseline',
      max_drop: 0,
      verdict: 'worse',
    });
  });
});

test('with nothing changed but chance, at most one comparison in twenty calls anything worse', () => {
  const random = seededRandom(2026);
  const observe = (): Map<string, Observation> =>
    new Map(
      Array.from({ length: 24 }, (_, i) => {
        const passes = 0.5 + (i % 5) / 10;
        const cost = 0.01 * (1 + (i % 4)) * (0.5 + random());
        return [
          `q${i}`,
          {
            verdicts: [random() < passes ? 1 : 0],
            metrics: new Map([
              ['cost_usd', [cost]],
              ['latency_ms', [cost * 1e5 * (0.5 + random())]],
              ['score', [random()]],
            ]),
          },
        ];
      }),
    );
  const trials = 250;
  let alarms = 0;
  for (let i = 0; i < trials; i++) {
    const found = compareMetrics(observe(), observe(), {
      maxDrop: { pass_rate: 0, cost_usd: 0, latency_ms: 0, score: 0 },
      seed: i,
    });
    if (found.some(({ verdict }) => verdict === 'worse')) alarms++;
  }
  expect(alarms / trials).toBeLessThanOrEqual(0.05);
  // A gate that never reports anything would pass this test too, but not the test on broken queries
  // above.
  expect(alarms).toBeGreaterThan(0);
});

describe('what a comparison came to', () => {
  const named = (ids: Readonly<Record<string, CheckStatus>>) =>
    runOf(Object.entries(ids).map(([id, status]) => ({ id, status })));

  test.each<[string, Parameters<typeof named>[0], Parameters<typeof named>[0], string, RegExp]>([
    [
      'nothing in common',
      { a: 'pass' },
      { b: 'pass' },
      'nothing_to_compare',
      /^No query is on both sides, so there is nothing to compare\. New: b\. Gone: a\.$/,
    ],
    ['nothing at all', {}, {}, 'nothing_to_compare', /nothing to compare/],
    [
      'nothing decided',
      { a: 'error' },
      { a: 'error' },
      'nothing_to_compare',
      /No query was decided on both sides/,
    ],
    [
      'a new query that fails',
      { a: 'pass' },
      { a: 'pass', b: 'fail' },
      'worse',
      /^New and failing: b\. No verdict flipped\./,
    ],
    [
      'a new query that could not be judged',
      { a: 'pass' },
      { a: 'pass', b: 'error' },
      'worse',
      /^New and failing: b\./,
    ],
    [
      'one broke, one was mended',
      { a: 'pass', b: 'fail' },
      { a: 'fail', b: 'pass' },
      'worse',
      /^1 query passed before and fails now\. 1 query failed before and passes now\./,
    ],
    ['a verdict is lost', { a: 'pass' }, { a: 'error' }, 'worse', /could not be judged now/],
    [
      'one was mended',
      { a: 'fail' },
      { a: 'pass' },
      'better',
      /1 query failed before and passes now/,
    ],
    [
      'a query is gone',
      { a: 'pass', b: 'pass' },
      { a: 'pass' },
      'inconclusive',
      /^No verdict flipped\..* Gone: b\.$/,
    ],
    [
      'all as before',
      { a: 'pass', b: 'fail' },
      { a: 'pass', b: 'fail' },
      'no_difference',
      /^No verdict flipped\. No number moved/,
    ],
  ])('%s', (_, before, after, verdict, headline) => {
    const found = compareRuns({ before: named(before), after: named(after) });
    expect(found.verdict).toBe(verdict);
    expect(found.headline).toMatch(headline);
  });

  test('a price that doubled over few queries is inconclusive, not unchanged', () => {
    const at = (usd: number) => run(many(4, 'pass'), (i) => ({ cost_usd: usd * (1 + i / 10) }));
    const found = compareRuns({ before: at(0.01), after: at(0.02) });
    expect(found.verdict).toBe('inconclusive');
    expect(found.headline).toMatch(
      /Inconclusive: cost \(4 queries are too few to tell; about 1\d could\)/,
    );
  });
});
