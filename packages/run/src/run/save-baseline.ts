import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { CheckResult, QueryResult } from '@agentci/results';
import { caseKey, caseText, checksOf } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import {
  type BaselineFile,
  type BaselineInfo,
  type BaselineList,
  baselinePath,
  listAllBaselineFiles,
  listBaselineFiles,
  readBaselineTrace,
  usableBaselines,
  writeBaseline,
} from '../store/baseline-files.ts';
import { evaluateRecorded } from './evaluate-recorded.ts';
import type { RunOptions } from './run-options.ts';

export interface SaveBaselineInput
  extends Pick<RunOptions, 'judge' | 'env' | 'signal' | 'judgeCacheDir'> {
  readonly trace: Trace;
  /**
   * The verdict of the same checks when the agent ran. Used if secrets were removed from the trace
   * since.
   */
  readonly verdict?: QueryResult | undefined;
  /**
   * Removes everything that a file in version control must not contain. The precheck sees the
   * original trace.
   */
  readonly clean?: (trace: Trace) => Trace;
  readonly suite: Suite;
  /** The suite's agent. */
  readonly agent?: string;
  readonly version: string;
  /** The id of the query, or its `caseKey` if there is a matrix. */
  readonly queryId: string;
  /** The suite's `baseline_dir`. */
  readonly dir?: string;
  /**
   * Saves despite a failed precheck. The file records that it was forced, even if the precheck
   * passed.
   */
  readonly force?: boolean;
  /** Replaces a baseline of the same version and query. */
  readonly overwrite?: boolean;
  readonly now?: () => number;
}

export interface SavedBaseline {
  readonly file: string;
  readonly baseline: BaselineInfo;
  readonly precheck: Precheck;
}

/**
 * The result of the query's checks on a future baseline: all checks that can fail a query, rubrics
 * included.
 */
export interface Precheck {
  /** `unchecked`: the query has no checks, so nothing was proved. */
  readonly status: 'passed' | 'failed' | 'undecided' | 'unchecked';
  readonly checks: readonly CheckResult[];
  /** Descriptions of the problems. */
  readonly problems: readonly string[];
}

/**
 * Saves a trace as the baseline of a query, after judging it by the query's checks. Refuses a trace
 * that does not pass (`PRECHECK_FAILED`, `PRECHECK_UNDECIDED`) unless forced, and keeps an existing
 * file (`FILE_EXISTS`) unless `overwrite` is set.
 */
export async function saveBaseline(input: SaveBaselineInput): Promise<SavedBaseline> {
  fileOf(input);
  const precheck = await precheckTrace(input);
  if ((precheck.status === 'failed' || precheck.status === 'undecided') && !input.force)
    throw refusal(precheck, caseText(findQuery(input.suite, input.queryId)), input.trace);
  return { ...storeBaseline(input, precheck.status !== 'unchecked'), precheck };
}

/** Writes a trace as a baseline without judging it. `isProved`: checks of the query passed on it. */
export function storeBaseline(
  input: Omit<SaveBaselineInput, 'judge' | 'env' | 'signal' | 'judgeCacheDir' | 'verdict'>,
  isProved = false,
): Pick<SavedBaseline, 'file' | 'baseline'> {
  const { suite, trace, version, queryId, force = false, now = Date.now } = input;
  const agent = input.agent ?? suite.agent;
  const query = findQuery(suite, queryId);
  const file = fileOf(input);
  let precheck_passed: boolean | null | undefined;
  if (force) {
    precheck_passed = false;
  } else if (isProved) {
    precheck_passed = true;
  } else {
    precheck_passed = null;
  }
  const baseline: BaselineInfo = {
    version,
    agent,
    query: query.query,
    query_id: query.id,
    cell: query.cell,
    captured_at: new Date(now()).toISOString(),
    metadata: {
      model: modelOf(trace),
      spec_hash: suite.hash,
      judge_rubric_ids: rubricIds(query),
      precheck_passed,
      forced: force,
    },
  };
  writeBaseline(
    file,
    { ...baseline, trace: portable(input.clean?.(trace) ?? trace, query) },
    { overwrite: input.overwrite ?? false },
  );
  return { file, baseline };
}

/** The path of a baseline. Refuses names that cannot be part of a path. */
function fileOf({
  suite,
  dir,
  agent = suite.agent,
  version,
  queryId,
}: Omit<SaveBaselineInput, 'trace'>): string {
  const { id, cell } = findQuery(suite, queryId);
  return baselinePath({
    dir: dir ?? resolve(suite.dir, suite.baselineDir),
    agent,
    version,
    queryId: id,
    cell,
  });
}

/**
 * The baseline of a query in one version, with its trace. Reads the one-file form of older programs
 * too.
 */
export async function loadBaseline(place: {
  readonly dir: string;
  readonly agent: string;
  readonly version: string;
  /** Optional if the version has only one query. */
  readonly queryId?: string;
}): Promise<BaselineFile & { readonly trace: Trace }> {
  const files = usableBaselines(listBaselineFiles(place.dir, place.agent), place.version);
  const ofVersion = files.filter((file) => file.version === place.version);
  const exact = ofVersion.filter(
    (file) => place.queryId === undefined || file.query_id === place.queryId,
  );
  // A one-file baseline has no query id. It belongs to the query if no other baseline does.
  const candidates =
    exact.length > 0 ? exact : ofVersion.filter((file) => file.query_id === undefined);
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

/** The baselines of one agent or of all. Throws for an invalid file, with its name. */
export const listBaselines = (place: {
  readonly dir: string;
  readonly agent?: string;
}): readonly BaselineFile[] => usableBaselines(findBaselines(place), undefined);

/** Like `listBaselines`, but returns the invalid files next to the valid ones. */
export const findBaselines = (place: {
  readonly dir: string;
  readonly agent?: string;
}): BaselineList =>
  place.agent === undefined
    ? listAllBaselineFiles(place.dir)
    : listBaselineFiles(place.dir, place.agent);

function findQuery(suite: Suite, key: string): Query {
  const found = suite.queries.find((query) => caseKey(query) === key);
  if (found) return found;
  if (suite.queries.some(({ id }) => id === key))
    throw new UserError(
      'OPTION_INVALID',
      `${suite.file} has a matrix, so a baseline of "${key}" is that of one cell`,
      {
        hint: 'Name the cell with --cell, or the key of the case with caseKey.',
      },
    );
  throw new UserError('OPTION_INVALID', `${suite.file} has no query "${key}"`, {
    hint: `It has: ${suite.queries
      .slice(0, 10)
      .map((query) => query.id)
      .join(', ')}`,
  });
}

/** Judges a trace like `saveBaseline`, without saving it. */
export async function precheckTrace(input: Omit<SaveBaselineInput, 'version'>): Promise<Precheck> {
  const { suite, trace, queryId, judge, env, signal, judgeCacheDir, verdict } = input;
  if (trace.masked !== undefined && verdict !== undefined) return precheckOf(verdict);
  const results = await evaluateRecorded([{ queryId, trace }], {
    suite,
    judge: judge ?? 'live',
    env,
    signal,
    judgeCacheDir,
  });
  return precheckOf(results.get(queryId)!);
}

function precheckOf(result: QueryResult): Precheck {
  const checks = checksOf(result);
  if (result.error) return { status: 'undecided', checks, problems: [result.error.message] };
  const told = (is: (check: CheckResult) => boolean): string[] =>
    checks.filter(is).map((check) => `${check.id}: ${check.message}`);
  const failed = told((check) => check.status === 'fail');
  if (failed.length > 0) return { status: 'failed', checks, problems: failed };
  const open = told(isOpen);
  if (open.length > 0) return { status: 'undecided', checks, problems: open };
  // None of its checks was decided, although at least one should have been.
  if (result.status === 'error') {
    const skipped = told((check) => check.skip_reason === 'not_measured');
    return { status: 'undecided', checks, problems: skipped };
  }
  return { status: checks.length === 0 ? 'unchecked' : 'passed', checks, problems: [] };
}

/**
 * A check that can fail the query but is undecided: it could not be measured, or its judge was not
 * asked.
 */
const isOpen = ({ status, skip_reason: reason }: CheckResult): boolean =>
  status === 'error' || reason === 'off';

function refusal({ status, checks, problems }: Precheck, queryId: string, trace: Trace): UserError {
  const what = status === 'failed' ? 'does not pass its checks' : 'could not be judged';
  return new UserError(
    status === 'failed' ? 'PRECHECK_FAILED' : 'PRECHECK_UNDECIDED',
    `the trace of "${queryId}" ${what} and is not saved as a baseline:\n${problems.map((line) => `    ${line}`).join('\n')}`,
    {
      hint:
        status === 'failed'
          ? '--force-save saves it anyway; the file then says that it was forced.'
          : `${wayOut(checks, trace)}; --force-save saves it unjudged, and the file says so.`,
    },
  );
}

const RUBRIC = /^correctness\.(?:llm_judge|safety_check|hallucination_check)\b|^metric\./;

/** How to make an undecided precheck decide. */
function wayOut(checks: readonly CheckResult[], { masked }: Trace): string {
  if (masked !== undefined)
    return 'The stored trace has no secrets in it any more: save from the run itself, or run the agent again with --query';
  if (checks.some((check) => isOpen(check) && RUBRIC.test(check.id)))
    return 'Give the judge its key, or use stored verdicts with --judge recorded';
  return 'Record a run that holds what these checks look at';
}

/**
 * Removes the path of the source, because it is specific to one machine and a baseline is shared.
 */
function portable(trace: Trace, { id, cell }: Query): Trace {
  const { file: _, line: __, ...source } = trace.source;
  return {
    ...trace,
    source,
    task: { ...trace.task, id },
    meta: cell === undefined ? trace.meta : { ...trace.meta, cell },
  };
}

/** The most used model. */
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

/** The rubrics for the judge: built-in ones by name, custom ones by position. */
function rubricIds(query: Query): string[] {
  return ['llm_judge', 'safety_check', 'hallucination_check'].flatMap((key) => {
    const written = query.correctness?.[key];
    if (written === undefined || written === null) return [];
    const list = Array.isArray(written) ? written : [written];
    return list.map((rubric: unknown, i) => {
      const { template } = (rubric ?? {}) as { template?: unknown };
      if (typeof template === 'string') return template;
      if (Array.isArray(written)) return `${key}[${i}]`;
      return key;
    });
  });
}
