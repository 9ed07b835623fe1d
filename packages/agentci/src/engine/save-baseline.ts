import { resolve } from 'node:path';
import { UserError } from '../kit/user-error.ts';
import type { CheckResult } from '../results/run-result.ts';
import type { Query, Suite } from '../spec/suite.ts';
import {
  type BaselineFile,
  type BaselineInfo,
  baselinePath,
  listAllBaselineFiles,
  listBaselineFiles,
  readBaselineTrace,
  writeBaseline,
} from '../store/baseline-files.ts';
import type { Trace } from '../trace/model.ts';
import { judgeRecorded } from './judge-recorded.ts';
import type { RunOptions } from './run-options.ts';

export interface SaveBaselineInput extends Pick<RunOptions, 'judge' | 'env' | 'signal' | 'judgeCacheDir'> {
  readonly trace: Trace;
  /** Takes out what a file in version control must not hold; the precheck sees the trace as it is. */
  readonly clean?: (trace: Trace) => Trace;
  readonly suite: Suite;
  /** The suite's agent. */
  readonly agent?: string;
  readonly version: string;
  readonly queryId: string;
  /** The suite's `baseline_dir`. */
  readonly dir?: string;
  /** Save although the precheck did not pass; the file says so. */
  readonly force?: boolean;
  /** Replace a baseline of the same version and query. */
  readonly overwrite?: boolean;
  readonly now?: () => number;
}

export interface SavedBaseline {
  readonly file: string;
  readonly baseline: BaselineInfo;
  readonly precheck: Precheck;
}

/** What the query's correctness checks say of a trace that is to be a baseline. */
export interface Precheck {
  readonly status: 'passed' | 'failed' | 'undecided';
  readonly checks: readonly CheckResult[];
  /** What stands in the way, in words. */
  readonly problems: readonly string[];
}

/**
 * Saves a trace as the baseline of a query. It is judged by the query's correctness checks first; one that does not pass is
 * refused (`PRECHECK_FAILED`, `PRECHECK_UNDECIDED`) unless forced, and an existing file is kept (`BASELINE_EXISTS`) unless
 * overwriting was asked for.
 */
export async function saveBaseline(input: SaveBaselineInput): Promise<SavedBaseline> {
  const { suite, version, queryId, force = false } = input;
  const agent = input.agent ?? suite.agent;
  const query = queryOf(suite, queryId);
  const file = baselinePath({ dir: input.dir ?? resolve(suite.dir, suite.baselineDir), agent, version, queryId });
  const precheck = await precheckOf(input);
  if (precheck.status !== 'passed' && !force) throw refusal(precheck, queryId);
  const baseline: BaselineInfo = {
    version,
    agent,
    query: query.query,
    query_id: queryId,
    captured_at: new Date((input.now ?? Date.now)()).toISOString(),
    metadata: {
      model: modelOf(input.trace),
      spec_hash: suite.hash,
      judge_rubric_ids: rubricIds(query),
      precheck_passed: precheck.status === 'passed',
      forced: precheck.status !== 'passed',
    },
  };
  writeBaseline(
    file,
    { ...baseline, trace: portable(input.clean?.(input.trace) ?? input.trace, queryId) },
    { overwrite: input.overwrite ?? false },
  );
  return { file, baseline, precheck };
}

/** The baseline of a query in one version, with its trace; the one-file form of older programs is read too. */
export async function loadBaseline(place: {
  readonly dir: string;
  readonly agent: string;
  readonly version: string;
  /** May be left out where the version has one query only. */
  readonly queryId?: string;
}): Promise<BaselineFile & { readonly trace: Trace }> {
  const ofVersion = listBaselineFiles(place.dir, place.agent).filter((file) => file.version === place.version);
  const exact = ofVersion.filter((file) => place.queryId === undefined || file.query_id === place.queryId);
  // A one-file baseline carries no query id: it is the query's when nothing else could be.
  const candidates = exact.length > 0 ? exact : ofVersion.filter((file) => file.query_id === undefined);
  const [found] = candidates;
  if (found === undefined || candidates.length > 1) {
    const what = `baseline "${place.version}" of agent "${place.agent}"`;
    const ids = ofVersion.map((file) => file.query_id ?? file.query);
    throw new UserError(
      'BASELINE_MISSING',
      found === undefined
        ? `there is no ${what}${place.queryId === undefined ? '' : ` for query "${place.queryId}"`} in ${place.dir}`
        : `${what} has ${candidates.length} queries: name one`,
      ids.length > 0 ? { hint: `It has: ${ids.join(', ')}` } : {},
    );
  }
  return { ...found, trace: await readBaselineTrace(found.file) };
}

/** What baselines there are, of one agent or of all. */
export const listBaselines = (place: { readonly dir: string; readonly agent?: string }): BaselineFile[] =>
  place.agent === undefined ? listAllBaselineFiles(place.dir) : listBaselineFiles(place.dir, place.agent);

function queryOf(suite: Suite, id: string): Query {
  const found = suite.queries.find((query) => query.id === id);
  if (found) return found;
  throw new UserError('QUERY_UNKNOWN', `${suite.file} has no query "${id}"`, {
    hint: `It has: ${suite.queries
      .slice(0, 10)
      .map((query) => query.id)
      .join(', ')}`,
  });
}

async function precheckOf(input: SaveBaselineInput): Promise<Precheck> {
  const { suite, trace, queryId, judge, env, signal, judgeCacheDir } = input;
  const results = await judgeRecorded([{ queryId, trace }], {
    suite,
    ...(judge === undefined ? {} : { judge }),
    ...(env === undefined ? {} : { env }),
    ...(signal === undefined ? {} : { signal }),
    ...(judgeCacheDir === undefined ? {} : { judgeCacheDir }),
  });
  const result = results.get(queryId)!;
  const { checks, status } = result.correctness;
  if (result.error) return { status: 'undecided', checks, problems: [result.error.message] };
  const told = checks.filter((check) => check.status === 'fail' || check.status === 'error');
  const problems = told.map((check) => `${check.id}: ${check.message}`);
  return { status: status === 'fail' ? 'failed' : status === 'error' ? 'undecided' : 'passed', checks, problems };
}

function refusal({ status, problems }: Precheck, queryId: string): UserError {
  const what = status === 'failed' ? 'does not pass its correctness checks' : 'could not be judged';
  return new UserError(
    status === 'failed' ? 'PRECHECK_FAILED' : 'PRECHECK_UNDECIDED',
    `the trace of "${queryId}" ${what} and is not saved as a baseline:\n${problems.map((line) => `    ${line}`).join('\n')}`,
    { hint: '--force-save saves it all the same; the file then says that it was forced.' },
  );
}

/** Where a trace was read is a fact about one machine, and a baseline goes to all. */
function portable(trace: Trace, queryId: string): Trace {
  const { file: _, line: __, ...source } = trace.source;
  return { ...trace, source, task: { ...trace.task, id: queryId } };
}

/** The model most calls went to. */
function modelOf(trace: Trace): string | null {
  const counts = new Map<string, number>();
  for (const step of trace.steps) {
    if (step.kind !== 'llm') continue;
    const model = step.model ?? step.requestModel;
    if (model !== undefined) counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  if (most) return most[0];
  if (typeof trace.meta.model === 'string') return trace.meta.model;
  return trace.agents.find((agent) => agent.model !== undefined)?.model ?? null;
}

/** What the judge would be asked: the ready rubrics by name, the written ones by their place. */
function rubricIds(query: Query): string[] {
  return ['llm_judge', 'safety_check', 'hallucination_check'].flatMap((key) => {
    const written = query.correctness?.[key];
    if (written === undefined || written === null) return [];
    const list = Array.isArray(written) ? written : [written];
    return list.map((rubric: unknown, i) => {
      const { template } = (rubric ?? {}) as { template?: unknown };
      return typeof template === 'string' ? template : Array.isArray(written) ? `${key}[${i}]` : key;
    });
  });
}
