import { isObject } from '@agentci/lib/data';
import type { Cell, CheckStatus, QueryResult, RunResult } from '@agentci/results';
import { addsUp, usedBy } from '@agentci/results';
import { quantile } from '@agentci/stats';

/** One line of `runs.jsonl`: a run in a few hundred bytes. */
export interface HistoryRun {
  readonly id: string;
  /** Start time by the clock of its machine, ISO 8601. */
  readonly at: string;
  /** Position among the runs, if it differs from the time: see `results/run-order.ts`. */
  readonly order?: string;
  readonly agent: string;
  /** File name of the spec, without its folder. */
  readonly spec: string;
  readonly hash: string;
  readonly commit?: string;
  readonly branch?: string;
  readonly models: readonly string[];
  /** Only some of the queries were selected. */
  readonly part?: true;
  /** Recordings were judged without running an agent, so the costs are from an earlier time. */
  readonly recorded?: true;
  /**
   * The agent's run that was judged again. This line is another verdict on that run, not another
   * run.
   */
  readonly judges?: JudgedAgain;
  /** The shards of a merged run. */
  readonly shard_runs?: readonly string[];
  /** Written by older versions instead of `order`: ids of earlier runs with later dates. */
  readonly ahead?: readonly string[];
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly warnings: number;
  readonly errors: number;
  readonly skipped: number;
  /** Sum over the runs with a known cost. `null` if there are none. */
  readonly usd: number | null;
  /** Number of runs without a known cost. */
  readonly unpriced: number;
  /** Wasted cost. Not part of `usd`. */
  readonly unused_usd?: number;
  /** Sum over the runs with known tokens. `null` if there are none. */
  readonly tokens: number | null;
  /** Number of runs without known tokens. */
  readonly uncounted?: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly exit: number;
}

/** The time and commit of a run of an agent whose recordings are judged later. */
export interface JudgedAgain {
  readonly run: string;
  readonly at: string;
  readonly order?: string;
  readonly commit?: string;
}

/** One line of `<run>.jsonl`: a query of that run. */
export interface HistoryQuery {
  readonly id: string;
  readonly cell?: Cell;
  readonly status: CheckStatus;
  /** Number of its decided runs, and of those that passed. */
  readonly decided: number;
  readonly passed: number;
  readonly usd?: number;
  readonly ms?: number;
  readonly tokens?: number;
}

/** Facts about a run that its results lack. */
export interface RunAbout {
  readonly commit?: string | undefined;
  readonly branch?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly isPart: boolean;
  readonly isRecorded?: boolean;
  readonly judges?: JudgedAgain | undefined;
  readonly shardRuns?: readonly string[] | undefined;
  readonly order?: string | undefined;
  /** Used if the results have no time. */
  readonly at: string;
}

/** Builds the history line of a run. */
export function historyRun(run: RunResult, about: RunAbout): HistoryRun {
  const costs: (number | null)[] = [];
  const latencies: number[] = [];
  let tokens: number | null = null;
  let uncounted = 0;
  for (const result of run.results)
    for (const used of usesOf(result)) {
      costs.push(numberOr(used.cost_usd));
      const ms = numberOr(used.latency_ms);
      if (ms !== null) latencies.push(ms);
      const count = numberOr(used.total_tokens);
      if (count === null) uncounted++;
      else tokens = (tokens ?? 0) + count;
    }
  const known = costs.filter((cost) => cost !== null);
  const { total, passed, failed, warnings, errors, skipped, exit_code } = run.summary;
  return {
    id: run.run_id,
    at: run.started_at ?? about.at,
    order: about.order,
    agent: run.agent,
    spec: run.spec.file.split(/[\\/]/).at(-1)!,
    hash: run.spec.hash,
    commit: about.commit,
    branch: about.branch,
    models: about.models ?? [],
    part: about.isPart || undefined,
    recorded: about.isRecorded || run.recorded === true ? true : undefined,
    judges: about.judges,
    shard_runs: about.shardRuns,
    total,
    passed,
    failed,
    warnings,
    errors,
    skipped,
    usd: known.length === 0 ? null : rounded(known.reduce((sum, cost) => sum + cost, 0)),
    unpriced: costs.length - known.length,
    unused_usd: run.unused === undefined ? undefined : rounded(run.unused.cost_usd),
    tokens,
    uncounted,
    p50_ms: whole(quantile(latencies, 0.5)),
    p95_ms: whole(quantile(latencies, 0.95)),
    exit: exit_code,
  };
}

/** Builds the history line of a query. Errors are undecided: they do not count in the pass rate. */
export function historyQuery(result: QueryResult): HistoryQuery {
  const { id, cell, status, pass_rate, xfail } = result;
  const verdict = xfail?.status ?? status;
  const isDecided = verdict === 'pass' || verdict === 'warn' || verdict === 'fail';
  const uses = usesOf(result);
  const usd = meanOf(uses, 'cost_usd');
  const ms = meanOf(uses, 'latency_ms');
  const tokens = meanOf(uses, 'total_tokens');
  return {
    id,
    cell,
    status,
    decided: pass_rate?.decided ?? (isDecided ? 1 : 0),
    passed: pass_rate?.passed ?? (isDecided && verdict !== 'fail' ? 1 : 0),
    usd: usd === undefined ? undefined : rounded(usd),
    ms: ms === undefined ? undefined : Math.round(ms),
    tokens: tokens === undefined ? undefined : Math.round(tokens),
  };
}

/** Mean over the runs that have the value. */
function meanOf(uses: readonly Used[], what: keyof Used): number | undefined {
  let sum = 0;
  let known = 0;
  for (const used of uses) {
    const value = numberOr(used[what]);
    if (value === null) continue;
    sum += value;
    known++;
  }
  return known === 0 ? undefined : sum / known;
}

type Used = ReturnType<typeof usedBy>;

function usesOf(result: QueryResult): readonly Used[] {
  if (result.skip !== undefined || result.not_run !== undefined) return [];
  if (result.runs !== undefined) return result.runs.filter(wasAsked);
  return wasAsked(result) ? [usedBy(result)] : [];
}

/** False if there was no money left or the shard is missing. Nothing was spent then. */
const wasAsked = ({ error }: Pick<QueryResult, 'error'>): boolean =>
  error?.kind !== 'budget' && error?.kind !== 'shard';

const numberOr = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
const rounded = (usd: number): number => Math.round(usd * 1e6) / 1e6;
const whole = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));

const COUNTS = [
  'total',
  'passed',
  'failed',
  'warnings',
  'errors',
  'skipped',
  'exit',
  'unpriced',
] as const;
const MEASURES = ['usd', 'tokens', 'p50_ms', 'p95_ms'] as const;

/** Validates a line. Lines come from disk and from other machines. */
export function isHistoryRun(line: unknown): line is HistoryRun {
  return (
    isObject(line) &&
    [line.id, line.agent, line.spec, line.hash].every((text) => typeof text === 'string') &&
    typeof line.at === 'string' &&
    Number.isFinite(Date.parse(line.at)) &&
    isPlace(line.order) &&
    (line.judges === undefined || isJudgedAgain(line.judges)) &&
    [line.shard_runs, line.ahead].every(
      (ids) =>
        ids === undefined || (Array.isArray(ids) && ids.every((id) => typeof id === 'string')),
    ) &&
    [line.commit, line.branch].every((text) => text === undefined || typeof text === 'string') &&
    Array.isArray(line.models) &&
    line.models.every((model) => typeof model === 'string') &&
    COUNTS.every((name) => isCount(line[name])) &&
    addsUp(line as unknown as HistoryRun) &&
    (line.unused_usd === undefined ||
      (Number.isFinite(line.unused_usd) && (line.unused_usd as number) >= 0)) &&
    (line.uncounted === undefined || isCount(line.uncounted)) &&
    MEASURES.every((name) => line[name] === null || Number.isFinite(line[name]))
  );
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** An `order` that does not begin with a time would sort before or after all others. */
const isPlace = (order: unknown): boolean =>
  order === undefined || (typeof order === 'string' && /^\d{8}-\d{9}/.test(order));

const isJudgedAgain = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.run === 'string' &&
  typeof value.at === 'string' &&
  Number.isFinite(Date.parse(value.at)) &&
  isPlace(value.order) &&
  (value.commit === undefined || typeof value.commit === 'string');

const STATUSES: ReadonlySet<unknown> = new Set(['pass', 'warn', 'fail', 'skip', 'error']);

export function isHistoryQuery(line: unknown): line is HistoryQuery {
  return (
    isObject(line) &&
    typeof line.id === 'string' &&
    STATUSES.has(line.status) &&
    (line.cell === undefined ||
      (isObject(line.cell) &&
        Object.values(line.cell).every((value) => typeof value === 'string'))) &&
    isCount(line.decided) &&
    isCount(line.passed) &&
    (line.passed as number) <= (line.decided as number) &&
    [line.usd, line.ms, line.tokens].every((value) => value === undefined || Number.isFinite(value))
  );
}
