import { recordingOf } from '../engine/match-traces.ts';
import {
  type IdleCheck,
  MUTATION_SCHEMA,
  type MutationResult,
  type MutationScore,
  type Survivor,
} from '../results/mutation-result.ts';
import { type CheckResult, LAYERS, type Layer, type QueryResult } from '../results/run-result.ts';
import { checksOf } from '../results/status.ts';
import type { Query, Suite } from '../spec/suite.ts';
import { wilsonInterval } from '../stats/wilson-interval.ts';
import type { Trace } from '../trace/model.ts';
import type { Operator } from './operator.ts';
import type { Planned } from './plan-mutants.ts';

/** A check may be written more than once in a query; its place tells them apart. */
export const keyOf = ({ id, location }: CheckResult): string =>
  `${id} ${location?.line ?? ''}:${location?.column ?? ''}`;

interface Tried {
  readonly query: Query;
  readonly trace: Trace;
  /** The verdict on the recording as it was. */
  readonly parent: QueryResult;
  readonly plan: Planned;
  readonly noticedBy: readonly string[];
  readonly isForJudge: boolean;
}

interface Count {
  noticed: number;
  mutants: number;
}

/** Counts as mutants are judged. */
export class Tally {
  equal = 0;
  #recordings = 0;
  #notTried = 0;
  readonly #operators: readonly Operator[];
  readonly #meant: Count = { noticed: 0, mutants: 0 };
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

  add({ query, trace, parent, plan, noticedBy, isForJudge }: Tried): void {
    const { operator } = plan;
    const isNoticed = noticedBy.length > 0;
    if (!isNoticed && isForJudge && operator.layer === 'correctness') {
      this.#forTheJudge.push(survivorOf({ query, trace, parent, plan }));
      return;
    }
    const meant = isMeant(query, parent, plan) ? [this.#meant] : [];
    for (const count of [this.#byOperator.get(operator.name)!, this.#byLayer[operator.layer], ...meant]) {
      count.mutants++;
      if (isNoticed) count.noticed++;
    }
    if (!isNoticed) this.#survivors.push(survivorOf({ query, trace, parent, plan }));
    for (const entry of this.#checks.values())
      if (!entry.noticed && entry.query === query && noticedBy.includes(entry.check.id)) entry.noticed = true;
  }

  result(
    { suite, seed = 0, minScore }: { readonly suite: Suite; readonly seed?: number; readonly minScore?: number },
    notices: string[],
  ): MutationResult {
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
      meant: { ...this.#meant },
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

function survivorOf({ query, trace, parent, plan }: Pick<Tried, 'query' | 'trace' | 'parent' | 'plan'>): Survivor {
  const { operator, site } = plan;
  const { advice } = site;
  return {
    query: query.id,
    ...(trace.source.file === undefined ? {} : { recording: recordingOf(trace).place }),
    operator: operator.name,
    layer: operator.layer,
    what: site.what,
    advice: { layer: advice.layer, check: advice.key, yaml: advice.yaml },
    meant: isMeant(query, parent, plan),
    ...(query.location === undefined ? {} : { location: query.location }),
  };
}

/**
 * The query has the advised check, it held on the good recording (one that warns already has nothing left to say), and it is
 * about what was changed.
 */
function isMeant(query: Query, parent: QueryResult, { site: { advice } }: Planned): boolean {
  const written = query[advice.layer]?.[advice.key];
  if (written === undefined || written === null) return false;
  const id = `${advice.layer}.${advice.key}`;
  const holds = checksOf(parent).some((check) => check.id === id && check.status === 'pass');
  return holds && (advice.isAbout?.(written) ?? true);
}
