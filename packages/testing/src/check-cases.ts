import type { AnyCheck, AnySetting } from '@agentci/checks';
import { evaluateLayer } from '@agentci/checks';
import { valueIssues } from '@agentci/lib/values';
import type { Layer, LayerResult } from '@agentci/results';
import type { Captured, Trace } from '@agentci/trace';
import { simpleTrace, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

export type Block = Readonly<Record<string, unknown>>;

/** Input of a check in addition to its block and the run. */
export interface Given {
  readonly baseline?: unknown;
  readonly captured?: Partial<Captured>;
  readonly status?: Trace['status'];
}

export function traceOf(form: unknown, given: Given = {}): Trace {
  const trace = simpleTrace(form);
  if (given.status !== undefined) trace.status = given.status;
  Object.assign(trace.captured, given.captured);
  return trace;
}

/** Evaluates one layer's block on a run in the simple form. */
export function evaluate(
  layer: Layer,
  block: Block | undefined,
  form: unknown,
  given: Given = {},
): LayerResult {
  const trace = traceOf(form, given);
  const base = given.baseline === undefined ? undefined : simpleTrace(given.baseline);
  const baseline =
    base === undefined ? {} : { baseline: { version: 'v1', trace: base, totals: totals(base) } };
  return evaluateLayer(layer, block, { trace, totals: totals(trace), ...baseline });
}

/** A run that called these tools. */
export const called = (...names: string[]) => ({
  answer: 'ok',
  tool_calls: names.map((name) => ({ name })),
});

/** The status of one check, with its skip reason. */
export function statusOf(result: LayerResult, key: string): string | undefined {
  const check = result.checks.find(({ id }) => id.endsWith(`.${key}`));
  return check?.skip_reason === undefined ? check?.status : `${check.status}: ${check.skip_reason}`;
}

/** A run: its called tools, or the complete simple form. */
type Run = readonly string[] | Block;
const formOf = (run: Run): unknown => (Array.isArray(run) ? called(...(run as string[])) : run);

/** A finding as `severity CODE path`, e.g. `error SPEC_EMPTY 1`. */
type Issue = string;

export interface CheckCases {
  /** A block with a run that passes, one that fails, and one that leaves it unmeasured. */
  readonly sample?: {
    readonly params: unknown;
    readonly keeps: Block;
    readonly breaks: Block;
    readonly baseline?: Block;
    readonly siblings?: Block;
  };
  readonly verdicts?: readonly ({
    readonly when: string;
    readonly block: Block;
    readonly run: Run;
    readonly status: string | undefined;
  } & Omit<Given, 'status'>)[];
  /** Incomplete runs: some calls were not recorded, or the run was truncated. */
  readonly inPart?: readonly {
    readonly block: Block;
    readonly run: Run;
    readonly status: string;
    readonly baseline?: unknown;
  }[];
  readonly issues?: readonly { readonly block: Block; readonly found: readonly Issue[] }[];
  readonly refuses?: readonly unknown[];
}

/** The tests common to all checks, and the tables of this check. */
export function describeCheck(check: AnyCheck | AnySetting, cases: CheckCases): void {
  const { key } = check;
  const layer = layerOf(check);
  describe(`${check.layer}.${key}`, () => {
    if (cases.sample !== undefined) testSample(check as AnyCheck, cases.sample);

    for (const { when, block, run, status, ...given } of cases.verdicts ?? [])
      test(`${when}: ${status ?? 'no check'}`, () => {
        expect(statusOf(evaluate(layer, block, formOf(run), given), key)).toBe(status);
      });

    for (const { block, run, status, ...given } of cases.inPart ?? [])
      test(`known in part, ${JSON.stringify(block)} after ${JSON.stringify(run)}: ${status}`, () => {
        const of = (known: Given) =>
          statusOf(evaluate(layer, block, formOf(run), { ...given, ...known }), key);
        expect(of({ captured: { toolCalls: 'partial' } })).toBe(status);
        expect(of({ status: 'incomplete' })).toBe(status);
      });

    for (const { block, found } of cases.issues ?? [])
      test(`${JSON.stringify(block)} reports ${found.length === 0 ? 'nothing' : found.join(', ')}`, () => {
        const issues = check.inspect?.(block[key] as never, block) ?? [];
        const told = issues.map(({ severity, code, path }) => [
          severity,
          code,
          ...(path ? [path.join('.')] : []),
        ]);
        expect(told.map((words) => words.join(' '))).toEqual(found);
      });

    for (const params of cases.refuses ?? [])
      test(`does not take ${JSON.stringify(params) ?? String(params)}`, () => {
        expect(valueIssues(check.schema, params)).not.toEqual([]);
      });
  });
}

/** A check for every layer is tested in the first. */
const layerOf = ({ layer }: AnyCheck | AnySetting): Layer =>
  layer === 'every' ? 'correctness' : layer;

function testSample(check: AnyCheck, sample: NonNullable<CheckCases['sample']>): void {
  const { params, keeps, breaks, baseline, siblings } = sample;
  const block = { [check.key]: params, ...siblings };
  const given = baseline === undefined ? {} : { baseline };
  const severity = check.severity === 'layer' ? 'fail' : check.severity;

  test('kept, violated with its severity, and number and limit on both', () => {
    const of = (form: Block) =>
      evaluate(layerOf(check), block, form, given).checks.find(({ id }) =>
        id.endsWith(`.${check.key}`),
      )!;
    expect(of(keeps).status).toBe('pass');
    expect(of(breaks).status).toBe(severity);
    for (const result of [of(keeps), of(breaks)]) {
      expect(result.limit).toBeDefined();
      expect(result.message).toMatch(/\S/);
    }
    expect(of(breaks).message).not.toBe(of(keeps).message);
    expect(valueIssues(check.schema, params)).toEqual([]);
    expect(check.inspect?.(params as never, block) ?? []).toEqual([]);
  });

  test('an uncaptured value is never a pass', () => {
    const result = evaluate(layerOf(check), block, { metadata: {} }, given);
    expect(statusOf(result, check.key)).toBe(severity === 'fail' ? 'error' : 'skip: not_measured');
  });

  test('hostile parameters give an error, not a crash', () => {
    for (const hostile of [Symbol('x'), 7n, { __proto__: null }, [null], Number.NaN, '']) {
      const form = { answer: 'x', tool_calls: [{ name: 'a', args: {} }] };
      expect(
        evaluate(layerOf(check), { [check.key]: hostile }, form).checks.length,
      ).toBeLessThanOrEqual(1);
    }
  });
}
