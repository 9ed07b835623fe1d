import { isDeepStrictEqual } from 'node:util';
import { recordingOf } from '../engine/match-traces.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { createTraceVerdicts } from '../engine/trace-verdicts.ts';
import {
  type IdleCheck,
  MUTATION_SCHEMA,
  type MutationResult,
  type MutationScore,
  type Survivor,
} from '../results/mutation-result.ts';
import { type CheckResult, LAYERS, type Layer, type QueryResult } from '../results/run-result.ts';
import { checksOf, worseStatus } from '../results/status.ts';
import { hasRubrics } from '../spec/rubric-items.ts';
import type { Query } from '../spec/suite.ts';
import { wilsonInterval } from '../stats/wilson-interval.ts';
import type { Trace } from '../trace/model.ts';
import type { Operator } from './operator.ts';
import { OPERATORS } from './operators/index.gen.ts';
import { type Planned, planMutants } from './plan-mutants.ts';
import { SuiteWorld } from './surroundings.ts';

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
  const { suite, recordings, seed = 0, operators = OPERATORS } = options;
  const asksJudge = options.judge !== undefined && options.judge !== 'off';
  const queries = suite.queries.filter(({ id }) => recordings.has(id));
  const verdicts = await createTraceVerdicts({ ...options, judge: options.judge ?? 'off' }, queries);
  const tally = new Tally(operators);
  const world = new SuiteWorld(suite, recordings);
  const good: { query: Query; trace: Trace; parent: QueryResult }[] = [];
  for (const query of queries) {
    for (const trace of recordings.get(query.id) ?? []) {
      const why = reasonToLeaveOut(query);
      const parent = why === undefined ? await verdicts.evaluate(query, trace) : undefined;
      if (parent?.status === 'pass' || parent?.status === 'warn') good.push({ query, trace, parent });
      else tally.leaveOut(query, why ?? reasonOf(parent!));
    }
  }
  let left = options.budget ?? good.length * PER_RECORDING;
  for (const [i, { query, trace, parent }] of good.entries()) {
    if (options.signal?.aborted) break;
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
      tally.add({
        query,
        trace,
        plan,
        noticedBy: worseChecks(parent, result),
        isForJudge: !asksJudge && hasRubrics(query),
      });
    }
    options.onProgress?.(i + 1, good.length);
  }
  return tally.result(options, [
    ...verdicts.notices(),
    ...(options.signal?.aborted ? ['interrupted: not every recording was changed'] : []),
  ]);
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

/** A check may be written more than once in a query; its place tells them apart. */
const keyOf = ({ id, location }: CheckResult): string => `${id} ${location?.line ?? ''}:${location?.column ?? ''}`;

interface Tried {
  readonly query: Query;
  readonly trace: Trace;
  readonly plan: Planned;
  readonly noticedBy: readonly string[];
  readonly isForJudge: boolean;
}

interface Count {
  noticed: number;
  mutants: number;
}

/** Counts as mutants are judged. */
class Tally {
  equal = 0;
  #recordings = 0;
  #notTried = 0;
  readonly #operators: readonly Operator[];
  readonly #byOperator = new Map<string, Count>();
  readonly #byLayer: Record<Layer, Count>;
  readonly #leftOut: MutationResult['left_out'] = [];
  readonly #survivors: Survivor[] = [];
  readonly #forTheJudge: Survivor[] = [];
  /** Checks of each query that gave a verdict on a good recording, and those of them that noticed something. */
  readonly #checks = new Map<string, { readonly query: Query; readonly check: CheckResult; noticed: boolean }>();

  constructor(operators: readonly Operator[]) {
    this.#operators = operators;
    const count = (): Count => ({ noticed: 0, mutants: 0 });
    this.#byLayer = { correctness: count(), path: count(), cost: count() };
    for (const { name } of operators) this.#byOperator.set(name, count());
  }

  leaveOut({ id }: Query, why: string): void {
    this.#leftOut.push({ query: id, why });
  }

  recording(query: Query, parent: QueryResult, notTried: number): void {
    this.#recordings++;
    this.#notTried += notTried;
    for (const check of checksOf(parent)) {
      const key = `${query.id} ${keyOf(check)}`;
      if (check.status !== 'skip' && !this.#checks.has(key)) this.#checks.set(key, { query, check, noticed: false });
    }
  }

  add({ query, trace, plan, noticedBy, isForJudge }: Tried): void {
    const { operator } = plan;
    const isNoticed = noticedBy.length > 0;
    if (!isNoticed && isForJudge && operator.layer === 'correctness') {
      this.#forTheJudge.push(survivorOf({ query, trace, plan }));
      return;
    }
    for (const count of [this.#byOperator.get(operator.name)!, this.#byLayer[operator.layer]]) {
      count.mutants++;
      if (isNoticed) count.noticed++;
    }
    if (!isNoticed) this.#survivors.push(survivorOf({ query, trace, plan }));
    for (const entry of this.#checks.values())
      if (!entry.noticed && entry.query === query && noticedBy.includes(entry.check.id)) entry.noticed = true;
  }

  result({ suite, seed = 0, minScore }: MutateOptions, notices: string[]): MutationResult {
    const layers = Object.fromEntries(LAYERS.map((layer) => [layer, scoreOf(this.#byLayer[layer])])) as Record<
      Layer,
      MutationScore
    >;
    const score = scoreOf({
      noticed: LAYERS.reduce((sum, layer) => sum + layers[layer].noticed, 0),
      mutants: LAYERS.reduce((sum, layer) => sum + layers[layer].mutants, 0),
    });
    return {
      schema: MUTATION_SCHEMA,
      agent: suite.agent,
      spec: { file: suite.file, hash: suite.hash },
      seed,
      recordings: this.#recordings,
      left_out: this.#leftOut,
      equal: this.equal,
      not_tried: this.#notTried,
      score,
      layers,
      operators: this.#operators.map(({ name, layer, summary }) => ({
        name,
        layer,
        summary,
        ...this.#byOperator.get(name)!,
      })),
      survivors: this.#survivors,
      for_the_judge: this.#forTheJudge,
      idle_checks: this.#idle(),
      notices,
      summary: { exit_code: exitCode(score, minScore), ...(minScore === undefined ? {} : { min_score: minScore }) },
    };
  }

  #idle(): IdleCheck[] {
    return [...this.#checks.values()]
      .filter(({ noticed }) => !noticed)
      .map(({ query, check }) => ({
        query: query.id,
        check: check.id,
        ...(check.location === undefined ? {} : { location: check.location }),
      }));
  }
}

/** Nothing to break is not a good score. */
function exitCode({ rate }: MutationScore, minScore: number | undefined): number {
  if (rate === null) return 2;
  return minScore !== undefined && rate < minScore ? 1 : 0;
}

function scoreOf({ noticed, mutants }: Count): MutationScore {
  const interval = wilsonInterval(noticed, mutants);
  return { noticed, mutants, rate: mutants === 0 ? null : noticed / mutants, ci95: interval };
}

function survivorOf({ query, trace, plan: { operator, site } }: Pick<Tried, 'query' | 'trace' | 'plan'>): Survivor {
  const { advice } = site;
  return {
    query: query.id,
    ...(trace.source.file === undefined ? {} : { recording: recordingOf(trace).place }),
    operator: operator.name,
    layer: operator.layer,
    what: site.what,
    advice: { layer: advice.layer, check: advice.key, yaml: advice.yaml },
    ...(query.location === undefined ? {} : { location: query.location }),
  };
}
