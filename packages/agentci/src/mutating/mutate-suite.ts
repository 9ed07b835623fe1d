import { isDeepStrictEqual } from 'node:util';
import type { RunOptions } from '../engine/run-options.ts';
import { createTraceVerdicts, type TraceVerdicts } from '../engine/trace-verdicts.ts';
import type { MutationResult } from '../results/mutation-result.ts';
import type { QueryResult } from '../results/run-result.ts';
import { checksOf, worseStatus } from '../results/status.ts';
import { hasRubrics } from '../spec/rubric-items.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import type { Operator } from './operator.ts';
import { OPERATORS } from './operators/index.gen.ts';
import { planMutants } from './plan-mutants.ts';
import { SuiteWorld } from './surroundings.ts';
import { keyOf, Tally } from './tally.ts';

/** Mutants of one recording, unless a budget says otherwise. */
const PER_RECORDING = 50;

export interface MutateOptions
  extends Pick<
    RunOptions,
    'suite' | 'judge' | 'judgeCacheDir' | 'env' | 'signal' | 'baseline' | 'baselineDir' | 'maxCostUsd'
  > {
  /** Good recordings by query. */
  readonly recordings: ReadonlyMap<string, readonly Trace[]>;
  readonly seed?: number;
  /** At most so many mutants, spread over recordings and operators; 50 for each recording. */
  readonly budget?: number;
  readonly operators?: readonly Operator[];
  /** The least share of mutants that must be noticed. */
  readonly minScore?: number;
  /** Hears how far it is. */
  readonly onProgress?: (done: number, all: number) => void;
}

/**
 * Breaks good recordings one change at a time and asks which breakages the checks of the suite notice. A mutant is noticed
 * when a check has a worse verdict on it than on the recording it was made from.
 */
export async function mutateSuite(options: MutateOptions): Promise<MutationResult> {
  const { suite, recordings, operators = OPERATORS } = options;
  const queries = suite.queries.filter(({ id }) => recordings.has(id));
  const verdicts = await createTraceVerdicts({ ...options, judge: options.judge ?? 'off' }, queries);
  const tally = new Tally(operators);
  try {
    const good = await findGood(queries, options, verdicts, tally);
    await breakAll(good, options, verdicts, tally);
  } finally {
    await verdicts.close();
  }
  const stopped = options.signal?.aborted ? ['interrupted: not every recording was changed'] : [];
  return tally.result(options, [...verdicts.notices(), ...stopped]);
}

/** A recording with the verdict it deserves. */
interface Good {
  readonly query: Query;
  readonly trace: Trace;
  readonly parent: QueryResult;
}

async function findGood(
  queries: readonly Query[],
  { recordings }: MutateOptions,
  verdicts: TraceVerdicts,
  tally: Tally,
): Promise<Good[]> {
  const good: Good[] = [];
  for (const query of queries) {
    const why = reasonToLeaveOut(query);
    for (const trace of recordings.get(query.id) ?? []) {
      const parent = why === undefined ? await verdicts.evaluate(query, trace) : undefined;
      if (parent !== undefined && isGood(parent)) good.push({ query, trace, parent });
      else tally.leaveOut(query, why ?? reasonOf(parent!));
    }
  }
  return good;
}

/** Nothing failed. Rubrics that were not asked leave a query without a verdict, which is not the recording's fault. */
const isGood = (result: QueryResult): boolean =>
  result.error === undefined && checksOf(result).every(({ status }) => status !== 'fail' && status !== 'error');

async function breakAll(
  good: readonly Good[],
  options: MutateOptions,
  verdicts: TraceVerdicts,
  tally: Tally,
): Promise<void> {
  const { suite, recordings, seed = 0, operators = OPERATORS, judge = 'off' } = options;
  const world = new SuiteWorld(suite, recordings);
  let left = options.budget ?? good.length * PER_RECORDING;
  for (const [i, { query, trace, parent }] of good.entries()) {
    if (options.signal?.aborted) return;
    const max = Math.ceil(left / (good.length - i));
    const { planned, found } = planMutants(trace, world.around(query, trace), { operators, seed, max });
    left -= planned.length;
    tally.recording(query, parent, found - planned.length);
    for (const plan of planned) {
      const mutant = plan.site.make();
      if (isDeepStrictEqual(mutant, trace)) {
        tally.equal++;
        continue;
      }
      const verdict = verdicts.evaluate(query, mutant);
      const result = verdict instanceof Promise ? await verdict : verdict;
      const noticedBy = worseChecks(parent, result);
      tally.add({ query, trace, parent, plan, noticedBy, isForJudge: judge === 'off' && hasRubrics(query) });
    }
    options.onProgress?.(i + 1, good.length);
  }
}

function reasonToLeaveOut(query: Query): string | undefined {
  if (query.xfail !== undefined) return 'it is expected to fail';
  if (query.test !== undefined) return 'it is judged over all recordings together';
  return undefined;
}

function reasonOf({ status, error, ...result }: QueryResult): string {
  const [first] = checksOf({ ...result, status } as QueryResult).filter((check) => check.status === status);
  const why = error?.message ?? first?.message;
  const what = status === 'fail' ? 'it fails as it is' : 'it has no verdict as it is';
  return why === undefined ? what : `${what}: ${why}`;
}

/** Ids of the checks whose verdict on the mutant is worse than on its recording. */
function worseChecks(parent: QueryResult, mutant: QueryResult): string[] {
  if (mutant.error !== undefined) return ['error'];
  const before = new Map(checksOf(parent).map((check) => [keyOf(check), check.status]));
  return checksOf(mutant).flatMap((check) => {
    const status = before.get(keyOf(check)) ?? 'skip';
    const isWorse = status !== check.status && worseStatus(status, check.status) === check.status;
    return isWorse && check.status !== 'pass' ? [check.id] : [];
  });
}
