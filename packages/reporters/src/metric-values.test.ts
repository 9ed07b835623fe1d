import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { describe, expect, test } from 'vitest';
import { reporter as consoleReporter } from './console.ts';
import { reporter as csv } from './csv.ts';
import { reporter as junit } from './junit.ts';
import { reporter as markdown } from './markdown.ts';
import { metricText } from './metric-values.ts';
import { type Reporter, reportText } from './reporter.ts';

test.each([
  [{ value: 0.83333333, detail: {} }, 'm 0.8333'],
  [{ value: 0, detail: {} }, 'm 0'],
  [{ value: 0.0000123, detail: {} }, 'm 0.000012'],
  [{ value: 0.0012, unit: 'USD', detail: {} }, 'm $0.0012'],
  [{ value: 4.5e-6, unit: 'USD', detail: {} }, 'm $0.0000045'],
  [{ value: 1500, unit: 'ms', detail: {} }, 'm 1.50 s'],
  [{ value: 12345, unit: 'tokens', detail: {} }, 'm 12,345 tokens'],
  [{ value: null, detail: { reason: 'no context' } }, 'm not measured (no context)'],
  [{ value: null, unit: 'USD', detail: {} }, 'm not measured (no reason given)'],
])('%j reads "%s"', (result, text) => {
  expect(metricText({ name: 'm', result })).toBe(text);
});

const faithfulness = checkOf('metric.faithfulness', 'pass', {
  message: 'faithfulness: 1 of at least 0.5',
});
const run = runOf(
  [
    {
      id: 'good',
      status: 'pass',
      correctness: [faithfulness],
      metrics: {
        faithfulness: { value: 1, detail: {} },
        token_usage: { value: 90, unit: 'tokens', detail: {} },
        cost: { value: null, unit: 'USD', detail: { reason: 'cost unknown' } },
      },
    },
    {
      id: 'bad',
      status: 'fail',
      correctness: [checkOf('correctness.exact_match', 'fail')],
      metrics: {
        token_usage: { value: 12_000, unit: 'tokens', detail: {} },
        cost: { value: 0.5, unit: 'USD', detail: {} },
      },
    },
  ],
  {
    checks: [checkOf('metric.privacy_budget', 'fail', { value: 0.2 })],
    metrics: { privacy_budget: { value: 0.2, detail: {} }, drift: { value: 0.5, detail: {} } },
  },
);
const render = (reporter: Reporter, more = {}) =>
  reportText(reporter.render(run, { ...reportContext(), ...more }));

describe('metrics without a bound', () => {
  test('are one line per query in the console, in columns, except those with a bound', () => {
    const lines = render(consoleReporter)
      .split('\n')
      .filter((line) => line.includes('Metrics'));
    expect(lines).toEqual([
      '      Metrics      token_usage 90 tokens      cost not measured (cost unknown)',
      '      Metrics      token_usage 12,000 tokens  cost $0.5000',
    ]);
  });

  test('are left out by --quiet with the queries that it leaves out', () => {
    const text = render(consoleReporter, { quiet: true });
    expect(text).toContain('token_usage 12,000 tokens');
    expect(text).not.toContain('cost unknown');
  });

  test('are a table of all queries in Markdown', () => {
    const text = render(markdown).replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
    expect(text).toContain('is fail\n\n| query |');
    expect(text).toContain('| good | token_usage 90 tokens · cost not measured (cost unknown) |');
    expect(text).toContain('| bad | token_usage 12,000 tokens · cost $0.5000 |');
  });

  test('use only the remaining space in Markdown, and count the omitted ones', () => {
    const many = runOf(
      Array.from({ length: 3000 }, (_, i) => ({
        id: `query-${i}`,
        status: 'pass' as const,
        metrics: { tone: { value: 0.5, detail: {} } },
      })),
    );
    const text = reportText(markdown.render(many, reportContext()));
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/The metrics of [\d,]+ queries are left out/);
  });

  test('are rows without a status in CSV; not measured has no value', () => {
    const rows = render(csv).split('\r\n');
    expect(rows).toContainEqual(
      expect.stringMatching(
        /"good",.*"pass","","metric\.cost","","not_measured","cost not measured \(cost unknown\)",,/,
      ),
    );
    expect(rows).toContainEqual(
      expect.stringMatching(/"bad",.*"","metric\.cost","","","cost \$0\.5000",0\.5,/),
    );
    expect(rows.filter((row) => row.includes('metric.faithfulness'))).toHaveLength(1);
    expect(rows).toContainEqual(
      expect.stringMatching(/"","","","","metric\.privacy_budget","fail"/),
    );
    expect(rows).toContainEqual(
      expect.stringMatching(/"","","","","metric\.drift","","","drift 0\.5",0\.5,/),
    );
  });

  test('are properties in JUnit, in which a missed bound of the run is a failure', () => {
    const text = render(junit);
    expect(text).toContain('name="metric.cost" value="not measured"');
    expect(text).toContain('<failure message="metric.privacy_budget is fail"');
    expect(text).toContain('failures="2" errors="0"');
  });
});
