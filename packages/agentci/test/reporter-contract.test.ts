import { REPORTERS, type Reporter, reportText } from '@agentci/reporters';
import type { CheckStatus } from '@agentci/results';
import { StoredResult } from '@agentci/results';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { describe, expect, test } from 'vitest';

// Requirements for every reporter. New reporters are included automatically.

const context = reportContext();
const HOSTILE =
  '\u001b[31mred\u0007 \u202eevil\r\n::error file=x::forged\n"><script>alert(1)</script> | ` % \0 \ud800 ]]> 😀';
const statuses: CheckStatus[] = ['pass', 'warn', 'fail', 'error', 'skip'];
const every = () =>
  runOf(
    statuses.map((status) => ({
      id: `q-${status}`,
      status,
      correctness: [
        checkOf(
          'correctness.exact_match',
          status,
          status === 'skip' ? { skip_reason: 'not_measured' } : {},
        ),
      ],
      ...(status === 'error'
        ? { error: { kind: 'infra' as const, message: '[INFRA] down', stderr: 'trace' } }
        : {}),
    })),
  );
const hostile = () =>
  runOf(
    [
      {
        id: 'h',
        status: 'fail',
        query: HOSTILE,
        answer: HOSTILE,
        correctness: [checkOf('correctness.exact_match', 'fail', { message: HOSTILE })],
        metrics: {
          [HOSTILE]: { value: 1, unit: HOSTILE, detail: {} },
          tone: { value: null, detail: { reason: HOSTILE } },
        },
      },
    ],
    {
      checks: [checkOf('metric.privacy_budget', 'fail', { message: HOSTILE })],
      agent: HOSTILE,
      notices: [HOSTILE],
    },
  );

describe.each(Object.entries(REPORTERS))('%s', (name, entry) => {
  const load = async (): Promise<Reporter> => entry.load();

  test('its facts are those of the generated index', async () => {
    const reporter = await load();
    expect(reporter).toMatchObject({
      name,
      summary: entry.summary,
      extensions: [...entry.extensions],
      machineReadable: entry.machineReadable,
    });
  });

  test('an empty run gives a report', async () => {
    expect(() => load().then((reporter) => reporter.render(runOf([]), context))).not.toThrow();
  });

  test('the same run gives the same bytes, whether live or read back from disk', async () => {
    const reporter = await load();
    const stored = JSON.parse(JSON.stringify(every())) as ReturnType<typeof every>;
    expect(reportText(reporter.render(stored, context))).toBe(
      reportText(reporter.render(every(), context)),
    );
  });

  test('a run whose results are on disk gives the same bytes as one in memory', async () => {
    const reporter = await load();
    const onDisk = (run: ReturnType<typeof every>) => ({
      ...run,
      results: run.results.map((result) => {
        const bytes = Buffer.from(JSON.stringify(result));
        const texts = { read: (at: number, length: number) => bytes.subarray(at, at + length) };
        return new StoredResult(result, texts, { at: 0, length: bytes.length });
      }),
    });
    for (const run of [every(), hostile()])
      expect(reportText(reporter.render(onDisk(run), context))).toBe(
        reportText(reporter.render(run, context)),
      );
  });

  test('a failure is in the report by its id or its question', async () => {
    const text = reportText((await load()).render(every(), context));
    expect(text).toMatch(/q-fail/);
  });

  test('hostile text neither moves the cursor nor starts a new line', async () => {
    const text = reportText((await load()).render(hostile(), context));
    const unsafe = [...text.replaceAll('\r\n', '\n')].filter(
      (character) =>
        (character < ' ' && character !== '\n') ||
        (!entry.machineReadable && character === '\u202e'),
    );
    expect(unsafe).toEqual([]);
    expect(text.split('\n').filter((line) => line.startsWith('::error file=x'))).toEqual([]);
  });

  test('handles a thousand queries and a megabyte of answer', async () => {
    const reporter = await load();
    const many = runOf(
      Array.from({ length: 1000 }, (_, i) => ({
        id: `q${i}`,
        status: 'fail' as const,
        answer: i === 0 ? 'x'.repeat(1 << 20) : 'a',
        path: [checkOf('path.max_loops', 'fail')],
      })),
    );
    expect(reportText(reporter.render(many, context)).length).toBeGreaterThan(1000);
  });
});
