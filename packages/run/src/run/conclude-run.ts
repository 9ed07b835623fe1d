import { present } from '@agentci/lib/data';
import { settledUsd } from '@agentci/lib/numbers';
import { SECRETS } from '@agentci/lib/secrets';
import { plural } from '@agentci/lib/text';
import type { Metric } from '@agentci/metrics';
import type { CheckResult, QueryResult, RunResult } from '@agentci/results';
import { maskResult, summarize } from '@agentci/results';
import { runUse, servedCheck } from './cassette-use.ts';
import { cellChecks, compareCells } from './cells.ts';
import type { RunParts } from './run-parts.ts';
import { judgeNotices } from './suite-judge.ts';
import { unknownTools } from './tool-name-collector.ts';

/** The fields of a result that describe the whole run. */
type Conclusion = Omit<
  RunResult,
  'schema' | 'agent' | 'run_id' | 'spec' | 'started_at' | 'duration_ms'
>;

interface ConcludeInput {
  readonly parts: RunParts;
  readonly results: QueryResult[];
  readonly isInterrupted?: boolean;
  /** Metrics of the user's own modules, if they were loaded. */
  readonly custom?: ReadonlyMap<string, Metric>;
  /**
   * Set if only a part of the queries ran here. Checks over all of them are left to `agentci
   * merge`.
   */
  readonly shard?: NonNullable<RunResult['shard']>;
  /** Errors found when shards were merged. */
  readonly incomplete?: readonly CheckResult[];
}

/** Computes the results of a whole run: its checks, numbers, notices and exit code. */
export async function concludeRun(input: ConcludeInput): Promise<Conclusion> {
  const { parts, results, isInterrupted = false, shard, incomplete = [] } = input;
  const { recorded, matrix, audit } = parts;
  const isShard = shard !== undefined;
  const cassette = runUse(results, parts.late.inReplay);
  const tools = unknownTools(parts.tools, results);
  const cells = cellsOf(results, matrix, isShard);
  const audited = audit === undefined ? undefined : await auditOf(audit);
  const suiteMetrics = parts.metrics.length === 0 ? undefined : await import('./suite-metrics.ts');
  const overall = isShard
    ? undefined
    : await suiteMetrics?.measureOverall(parts.metrics, { custom: input.custom });
  const gate = (checks: readonly (CheckResult | { id: string })[]): CheckResult[] =>
    isShard ? deferred(checks) : (checks as CheckResult[]);
  const checks = maskResult([
    ...incomplete,
    ...recorded.checks,
    ...gate([
      ...(overall?.checks ?? []),
      ...(isShard ? parts.metrics.map(({ request }) => ({ id: `metric.${request.name}` })) : []),
      ...tools.checks,
    ]),
    ...parts.late.checks,
    ...parts.outside,
    ...gate([
      ...servedCheck(cassette),
      ...(audited?.checks ?? []),
      ...baselineCellChecks(cells, matrix, isShard),
    ]),
  ]);
  const unmatched = recorded.unmatched > 0 ? recorded.unmatched : undefined;
  const interrupted = isInterrupted || undefined;
  const verdicts = { results, unmatched_recordings: unmatched, checks, interrupted };
  return {
    recorded: recorded.isAll ? true : undefined,
    unused: parts.unused === undefined ? undefined : settled(parts.unused),
    judge: settled(parts.judge.usage),
    user: parts.user === undefined ? undefined : settled(parts.user),
    user_audit: audited?.report,
    checks,
    metrics: overall && Object.keys(overall.metrics).length > 0 ? overall.metrics : undefined,
    cassette,
    summary: summarize(verdicts, {
      strict: parts.strict,
      isShard,
      isIncomplete: incomplete.length > 0,
    }),
    shard,
    ...cells,
    results,
    unmatched_recordings: unmatched,
    notices: noticesOf(input, {
      tools: tools.notices,
      overall: overall?.notices ?? [],
      audit: audited?.notice,
    }),
    interrupted,
  };
}

function cellsOf(results: readonly QueryResult[], matrix: RunParts['matrix'], isShard: boolean) {
  if (matrix === undefined) return undefined;
  const compared = compareCells(results, matrix.cells, matrix.baseline);
  return isShard ? { ...compared, cell_comparisons: [] } : compared;
}

/** The checks of cells against the baseline cell. A shard only lists their names. */
function baselineCellChecks(
  cells: ReturnType<typeof cellsOf>,
  matrix: RunParts['matrix'],
  isShard: boolean,
): readonly (CheckResult | { readonly id: string })[] {
  if (cells === undefined || matrix?.baseline === undefined) return [];
  return isShard ? [{ id: 'matrix.baseline_cell' }] : cellChecks(cells, matrix.baseline);
}

async function auditOf(audit: NonNullable<RunParts['audit']>) {
  const { auditChecks, auditNotice, auditReport } = await import('./user-audit.ts');
  return {
    checks: auditChecks(audit),
    notice: auditNotice(audit),
    report: maskResult(auditReport({ ...audit, judge: settled(audit.judge) })),
  };
}

function noticesOf(
  { parts, shard }: ConcludeInput,
  found: {
    readonly tools: readonly string[];
    readonly overall: readonly string[];
    readonly audit: string | undefined;
  },
): string[] {
  const { unpricedRuns = 0 } = parts;
  return SECRETS.value(
    present([
      shard === undefined ? undefined : shardNotice(shard),
      unpricedRuns === 0
        ? undefined
        : `--max-cost counts known costs only; the cost of ${plural(unpricedRuns, 'run')} is not known`,
      ...parts.baselines,
      ...parts.recorded.notices,
      ...found.tools,
      ...found.overall,
      ...judgeNotices(parts.judge),
      found.audit,
      parts.hint,
    ]),
  );
}

/** A part of a run must neither pass nor fail checks on the whole run. */
function deferred(checks: readonly { readonly id: string }[]): CheckResult[] {
  return [...new Set(checks.map(({ id }) => id))].map((id) => ({
    id,
    status: 'skip',
    skip_reason: 'deferred',
    message: `${id} is decided over all shards, by agentci merge`,
    evidence: [],
  }));
}

function shardNotice({ index, count, ids }: NonNullable<RunResult['shard']>): string {
  const what =
    ids.length === 0
      ? 'no queries are left for it, so nothing was run'
      : `${plural(ids.length, 'query', 'queries')}; the verdict on the whole run is made by agentci merge`;
  return `shard ${index} of ${count}: ${what}`;
}

/** The usage of models. Parts keep the exact sum, so that only the total is rounded. */
const settled = <T extends { readonly cost_usd: number | null }>(usage: T): T =>
  usage.cost_usd === null ? usage : { ...usage, cost_usd: settledUsd(usage.cost_usd) };
