import type { MutationResult, QueryResult } from '@agentci/results';
import { caseKey, caseText, checksOf } from '@agentci/results';
import type { RunOptions } from '@agentci/run';
import { createTraceVerdicts, type TraceVerdicts } from '@agentci/run';
import type { Query } from '@agentci/spec';
import { hasRubrics } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { Adviser, type Good } from './advise.ts';
import { KnownSecrets } from './known-secrets.ts';
import type { Operator } from './operator.ts';
import { OPERATORS } from './operators/index.gen.ts';
import { planMutants } from './plan-mutants.ts';
import { isSameTrace } from './same-json.ts';
import { SuiteWorld } from './surroundings.ts';
import { Tally } from './tally.ts';
import { worseChecks } from './worse-checks.ts';

/** Default budget of mutants per recording. */
const PER_RECORDING = 50;

export interface MutateOptions
  extends Pick<
    RunOptions,
    | 'suite'
    | 'judge'
    | 'judgeCacheDir'
    | 'env'
    | 'signal'
    | 'baseline'
    | 'baselineDir'
    | 'maxCostUsd'
  > {
  /** Good recordings by `caseKey`: the id of their query, and the cell if the spec has a matrix. */
  readonly recordings: ReadonlyMap<string, readonly Trace[]>;
  /** The queries to test. Default: all. Queries without a good recording are named. */
  readonly queries?: readonly Query[];
  readonly seed?: number;
  /** Maximum number of mutants, spread over recordings and operators. Default: 50 per recording. */
  readonly budget?: number;
  readonly operators?: readonly Operator[];
  /** Minimum share of noticed mutants. */
  readonly minScore?: number;
  /** Receives progress. */
  readonly onProgress?: (done: number, all: number) => void;
}

/**
 * Applies one change at a time to good recordings and measures which changes the checks notice. A
 * mutant is noticed if a check has a worse verdict on it than on its recording.
 */
export async function mutateSuite(options: MutateOptions): Promise<MutationResult> {
  const { suite, recordings, operators = OPERATORS } = options;
  const looked = options.queries ?? suite.queries;
  const queries = looked.filter((query) => recordings.has(caseKey(query)));
  const verdicts = await createTraceVerdicts(
    { ...options, judge: options.judge ?? 'off' },
    queries,
  );
  const secrets = new KnownSecrets();
  const tally = new Tally(operators, secrets);
  try {
    const good = await findGood(queries, options, verdicts, tally);
    const adviser = new Adviser(verdicts.evaluate, good, secrets);
    await breakAll(good, options, { verdicts, tally, adviser });
    tally.uncovered = uncoveredOf(looked, good);
  } finally {
    await verdicts.close();
  }
  const stopped = options.signal?.aborted ? ['interrupted: not every recording was changed'] : [];
  return tally.result(options, [...verdicts.notices(), ...stopped]);
}

/** Queries that should have a good recording but have none. */
function uncoveredOf(queries: readonly Query[], good: readonly Good[]): string[] {
  const covered = new Set(good.map(({ query }) => caseKey(query)));
  const isExpected = (query: Query): boolean =>
    query.skip === undefined && reasonToLeaveOut(query) === undefined;
  return [
    ...new Set(
      queries.filter((query) => isExpected(query) && !covered.has(caseKey(query))).map(caseText),
    ),
  ];
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
    for (const trace of recordings.get(caseKey(query)) ?? []) {
      const parent = why === undefined ? await verdicts.evaluate(query, trace) : undefined;
      if (parent !== undefined && isGood(parent)) good.push({ query, trace, parent });
      else tally.leaveOut(query, trace, why ?? reasonOf(parent!));
    }
  }
  return good;
}

/**
 * Nothing failed. Without a judge, rubrics leave a query undecided, which does not make the
 * recording bad.
 */
const isGood = (result: QueryResult): boolean =>
  result.error === undefined &&
  checksOf(result).every(({ status }) => status !== 'fail' && status !== 'error');

async function breakAll(
  good: readonly Good[],
  options: MutateOptions,
  {
    verdicts,
    tally,
    adviser,
  }: { readonly verdicts: TraceVerdicts; readonly tally: Tally; readonly adviser: Adviser },
): Promise<void> {
  const { suite, recordings, seed = 0, operators = OPERATORS, judge = 'off' } = options;
  const world = new SuiteWorld(suite, recordings);
  let left = options.budget ?? good.length * PER_RECORDING;
  for (const [i, one] of good.entries()) {
    const { query, trace, parent } = one;
    if (options.signal?.aborted) return;
    const max = Math.ceil(left / (good.length - i));
    const { planned, found } = planMutants(trace, world.around(query, trace), {
      operators,
      seed,
      max,
    });
    left -= planned.length;
    tally.recording(one, found - planned.length);
    for (const plan of planned) {
      const mutant = plan.site.make();
      if (isSameTrace(mutant, trace)) {
        tally.equal++;
        continue;
      }
      const verdict = verdicts.evaluate(query, mutant);
      const result = verdict instanceof Promise ? await verdict : verdict;
      const noticedBy = worseChecks(parent, result);
      const advice =
        noticedBy.length > 0 ? undefined : await adviser.advise(one, plan.site, mutant);
      tally.add({
        ...one,
        plan,
        result,
        noticedBy,
        advice,
        isForJudge: judge === 'off' && hasRubrics(query),
      });
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
  const [first] = checksOf({ ...result, status } as QueryResult).filter(
    (check) => check.status === status,
  );
  const why = error?.message ?? first?.message;
  const what = status === 'fail' ? 'it fails as it is' : 'it has no verdict as it is';
  return why === undefined ? what : `${what}: ${why}`;
}
