import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Reporter, reportText } from '@agentci/reporters';
import { reporter as junit } from '@agentci/reporters/junit';
import { reporter as prometheus } from '@agentci/reporters/prometheus';
import { reporter as sarif } from '@agentci/reporters/sarif';
import type { CheckStatus, RunResult } from '@agentci/results';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import vectors from '@agentci/testing/vectors/reports.json' with { type: 'json' };
import { Validator } from '@cfworker/json-schema';
import parsePrometheus from 'parse-prometheus-text-format';
import { describe, expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';

// Validates reports with independent programs: libxml2 with a schema, a JSON Schema validator, a
// Prometheus parser.

const schema = (name: string) =>
  readFileSync(join(fileURLToPath(import.meta.url), '..', 'schemas', name), 'utf8');
const render = (reporter: Reporter, run: RunResult) =>
  reportText(reporter.render(run, reportContext()));
const STATUSES: CheckStatus[] = ['pass', 'warn', 'fail', 'error', 'skip'];
const HOSTILE = '\u001b[31m]]> <b> & "quoted" \0 \ud800 \n::error::x {label="x"} \\ 😀';
const query = (id: string, status: CheckStatus, message = `${id} is ${status}`): ShortResult => ({
  id,
  status,
  path: [checkOf('path.max_loops', status, { message })],
});

const runs: { when: string; run: RunResult }[] = [
  { when: 'nothing was selected', run: runOf([]) },
  {
    when: 'every status occurs',
    run: runOf(STATUSES.map((status) => query(`q-${status}`, status))),
  },
  {
    when: 'everything is hostile',
    run: runOf(
      [
        {
          ...query('h', 'fail', HOSTILE),
          query: HOSTILE,
          error: { kind: 'agent', message: HOSTILE, stderr: HOSTILE },
        },
      ],
      { agent: HOSTILE },
    ),
  },
  {
    when: 'a record could not be read',
    run: runOf([query('a', 'pass')], {
      checks: [
        checkOf('traces.readable', 'error', {
          location: { file: 'traces a.jsonl', line: 2, column: 1 },
        }),
      ],
    }),
  },
];

describe('junit', () => {
  test.each(runs)('is valid XML of the common form when $when', async ({ run }) => {
    const { valid, errors } = await validateXML({
      xml: [{ fileName: 'r.xml', contents: render(junit, run) }],
      schema: [schema('junit.xsd')],
    });
    expect({ valid, errors: errors.map(({ message }) => message) }).toEqual({
      valid: true,
      errors: [],
    });
  });

  test('the schema can refuse: a count that is not a number', async () => {
    const broken = render(junit, runs[1]!.run).replace('tests="5"', 'tests="five"');
    expect(
      (
        await validateXML({
          xml: [{ fileName: 'r.xml', contents: broken }],
          schema: [schema('junit.xsd')],
        })
      ).valid,
    ).toBe(false);
  });

  test.each(vectors.filter(({ kind }) => kind === 'report.junit'))('$id', ({ input, expected }) => {
    const { suite, results } = input as { suite: string; results: [string, CheckStatus, string][] };
    const text = render(
      junit,
      runOf(
        results.map(([id, status, message]) => query(id, status, message)),
        { agent: suite },
      ),
    );
    const wanted = expected as {
      testsuite: string;
      tests: number;
      failures: number;
      errors: number;
      testcases: string[];
      failure: { message_contains: string };
      system_out: { contains: string };
    };
    expect(text).toContain(
      `<testsuite name="${wanted.testsuite}" tests="${wanted.tests}" failures="${wanted.failures}" errors="${wanted.errors}"`,
    );
    expect([...text.matchAll(/<testcase name="([^"]+)"/g)].map(([, name]) => name)).toEqual(
      wanted.testcases,
    );
    const caseOf = (name: string) =>
      text.slice(text.indexOf(`<testcase name="${name}"`)).split('</testcase>', 1)[0];
    expect(caseOf('test_fail')).toMatch(
      new RegExp(`<failure message="[^"]*${wanted.failure.message_contains}`),
    );
    expect(caseOf('test_warn')).toMatch(
      new RegExp(`<system-out>[^<]*${wanted.system_out.contains}`),
    );
  });
});

describe('sarif', () => {
  const validator = new Validator(JSON.parse(schema('sarif.schema.json')), '2020-12');
  const log = (run: RunResult) =>
    JSON.parse(render(sarif, run)) as {
      runs: {
        tool: { driver: { rules: { id: string }[] } };
        results: {
          ruleId: string;
          ruleIndex: number;
          level: string;
          properties?: { query_id: string };
          locations: object[];
          partialFingerprints: object;
        }[];
        invocations: object[];
      }[];
    };

  test.each(runs)('holds only what the standard knows when $when', ({ run }) => {
    expect(validator.validate(log(run)).errors).toEqual([]);
  });

  test('the schema can refuse: a level that does not exist', () => {
    const wrong = log(runs[1]!.run);
    wrong.runs[0]!.results[0]!.level = 'fatal';
    expect(validator.validate(wrong).valid).toBe(false);
  });

  test('every result names its rule, and fingerprints survive a moved line', () => {
    const at = (line: number) =>
      log(
        runOf([
          {
            id: 'a',
            status: 'fail',
            path: [
              checkOf('path.max_loops', 'fail', { location: { file: 's.yaml', line, column: 3 } }),
            ],
          },
        ]),
      ).runs[0]!;
    const { results, tool } = at(5);
    expect(tool.driver.rules[results[0]!.ruleIndex]?.id).toBe(results[0]!.ruleId);
    expect(at(50).results[0]!.partialFingerprints).toEqual(results[0]!.partialFingerprints);
  });

  test('above 25,000 findings the failures are kept, and the rest is counted', () => {
    const many = runOf(
      Array.from({ length: 26_000 }, (_, i) => query(`q${i}`, i >= 25_500 ? 'fail' : 'warn')),
    );
    const [run] = log(many).runs;
    expect(run?.results).toHaveLength(25_000);
    expect(run?.results.filter(({ level }) => level === 'error')).toHaveLength(500);
    expect(JSON.stringify(run?.invocations)).toContain('1000 of 26000');
  });

  test.each(vectors.filter(({ kind }) => kind === 'report.sarif'))('$id', ({ input, expected }) => {
    const rows = (input.results as (object | [string, CheckStatus])[]).map((row) =>
      Array.isArray(row)
        ? { id: row[0] as string, status: row[1] as CheckStatus }
        : (row as { id: string; status: CheckStatus }),
    );
    const run = runOf(rows.map(({ id, status }) => query(id, status)));
    for (const result of run.results) delete result.location;
    const [written] = log(run).runs;
    if ('order' in expected)
      expect(written?.results.map(({ properties }) => properties?.query_id)).toEqual(
        expected.order,
      );
    else
      expect(written?.results).toMatchObject([
        {
          locations: [
            {
              physicalLocation: {
                region: (expected as { fallback_region: object }).fallback_region,
              },
            },
          ],
        },
      ]);
  });
});

describe('prometheus', () => {
  test.each(runs)('is read by a Prometheus parser when $when', ({ run }) => {
    const families = parsePrometheus(render(prometheus, run));
    expect(families.map(({ name }) => name)).toContain('agentci_exit_code');
    expect(families.every(({ type, help }) => type === 'GAUGE' && help !== '')).toBe(true);
  });

  test('label values come back as they were written', () => {
    const run = runOf([{ ...query('a', 'pass'), query: 'say "hi" \\ bye' }]);
    const family = parsePrometheus(render(prometheus, run)).find(
      ({ name }) => name === 'agentci_layer_status',
    );
    expect(family?.metrics[0]?.labels).toMatchObject({
      agent: 'demo',
      query_id: 'a',
      query: 'say "hi" \\ bye',
    });
  });

  test('unknown values are absent, never 0', () => {
    expect(render(prometheus, runOf([query('a', 'pass')]))).not.toMatch(
      /agentci_(cost_usd|latency_ms|total_tokens|correctness_pass)/,
    );
  });
});
