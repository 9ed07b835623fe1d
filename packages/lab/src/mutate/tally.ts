import { plural } from '@agentci/lib/text';
import {
  type CheckResult,
  caseKey,
  caseText,
  cellKey,
  checksOf,
  type IdleCheck,
  LAYERS,
  type Layer,
  MUTATION_SCHEMA,
  type MutationResult,
  type MutationScore,
  type QueryResult,
  type Survivor,
  type SurvivorAdvice,
} from '@agentci/results';
import { recordingOf } from '@agentci/run';
import type { Query, Suite } from '@agentci/spec';
import { clusteredRateInterval } from '@agentci/stats';
import type { Trace } from '@agentci/trace';
import { blockFor, idOfAdvice } from './advice-place.ts';
import type { Good } from './advise.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { Operator } from './operator.ts';
import { OPERATORS } from './operators/index.gen.ts';
import type { Planned } from './plan-mutants.ts';
import { keyedChecks } from './worse-checks.ts';

interface Tried extends Good {
  readonly plan: Planned;
  /** The verdict on the mutant. */
  readonly result: QueryResult;
  readonly noticedBy: readonly string[];
  readonly advice: SurvivorAdvice | undefined;
  readonly isForJudge: boolean;
}

interface Count {
  noticed: number;
  mutants: number;
}

/** One mutant for the interval, because repeats of a recording give the same mutants. */
interface Outcome {
  readonly query: string;
  readonly what: string;
  readonly isNoticed: boolean;
}

interface Watched {
  readonly query: Query;
  readonly check: CheckResult;
  noticed: boolean;
  /** At least one mutant changed its result. */
  touched: boolean;
}

/** Counts judged mutants. */
export class Tally {
  equal = 0;
  #recordings = 0;
  #notTried = 0;
  readonly #operators: readonly Operator[];
  readonly #secrets: KnownSecrets;
  readonly #meant: Count = { noticed: 0, mutants: 0 };
  readonly #byOperator = new Map<string, Count>();
  readonly #byLayer: Record<Layer, Outcome[]> = { correctness: [], path: [], cost: [] };
  readonly #leftOut: MutationResult['left_out'] = [];
  readonly #survivors: Survivor[] = [];
  readonly #forTheJudge: Survivor[] = [];
  /** Checks of each query with a verdict on a good recording. */
  readonly #checks = new Map<string, Map<string, Watched>>();
  readonly #violated = new Map<string, MutationResult['already_violated'][number]>();
  uncovered: string[] = [];

  constructor(operators: readonly Operator[], secrets: KnownSecrets) {
    this.#operators = operators;
    this.#secrets = secrets;
    const count = (): Count => ({ noticed: 0, mutants: 0 });
    for (const { name } of operators) this.#byOperator.set(name, count());
  }

  leaveOut(query: Query, trace: Trace, why: string): void {
    this.#leftOut.push({ query: caseText(query), why: this.#secrets.mask(why, trace) });
  }

  recording({ query, parent, trace }: Good, notTried: number): void {
    this.#recordings++;
    this.#notTried += notTried;
    const watched = this.#checks.get(caseKey(query)) ?? new Map<string, Watched>();
    this.#checks.set(caseKey(query), watched);
    for (const [key, check] of keyedChecks(parent)) {
      if (check.status === 'warn')
        this.#violated.set(`${caseKey(query)} ${key}`, {
          ...placeOf(query, check),
          message: this.#secrets.mask(check.message, trace),
        });
      if (check.status !== 'skip' && !watched.has(key))
        watched.set(key, { query, check, noticed: false, touched: false });
    }
  }

  add(tried: Tried): void {
    const { query, parent, plan, noticedBy, isForJudge } = tried;
    const { operator } = plan;
    const isNoticed = noticedBy.length > 0;
    this.#watch(tried);
    if (!isNoticed && isForJudge && operator.layer === 'correctness') {
      this.#forTheJudge.push(survivorOf(tried, this.#secrets));
      return;
    }
    const meant = isMeant(query, parent, plan) ? [this.#meant] : [];
    for (const count of [this.#byOperator.get(operator.name)!, ...meant]) {
      count.mutants++;
      if (isNoticed) count.noticed++;
    }
    const what = `${operator.name} ${plan.site.what}${query.cell === undefined ? '' : ` ${cellKey(query.cell)}`}`;
    this.#byLayer[operator.layer].push({ query: query.id, what, isNoticed });
    if (!isNoticed) this.#survivors.push(survivorOf(tried, this.#secrets));
  }

  #watch({ query, result, noticedBy }: Tried): void {
    const watched = this.#checks.get(caseKey(query));
    if (watched === undefined) return;
    for (const [key, check] of keyedChecks(result)) {
      const entry = watched.get(key);
      if (entry === undefined || entry.noticed) continue;
      entry.noticed = noticedBy.includes(key);
      entry.touched ||= check.message !== entry.check.message;
    }
  }

  result(
    {
      suite,
      seed = 0,
      minScore,
    }: { readonly suite: Suite; readonly seed?: number; readonly minScore?: number },
    notices: string[],
  ): MutationResult {
    const layers = Object.fromEntries(
      LAYERS.map((layer) => [layer, scoreOf(this.#byLayer[layer])]),
    ) as Record<Layer, MutationScore>;
    const score = scoreOf(LAYERS.flatMap((layer) => this.#byLayer[layer]));
    const { idle, untried } = this.#unmoved();
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
      idle_checks: idle,
      untried_checks: untried,
      already_violated: [...this.#violated.values()],
      uncovered: this.uncovered,
      notices,
      summary: summaryOf(score, {
        minScore,
        forTheJudge: this.#forTheJudge.length,
        uncovered: this.uncovered,
        notTried: this.#notTried,
      }),
    };
  }

  /**
   * Checks that noticed nothing. If the budget omitted changes, checks without any change are
   * listed separately.
   */
  #unmoved(): { idle: IdleCheck[]; untried: IdleCheck[] } {
    const isWhole = this.#notTried === 0 && this.#operators.length >= OPERATORS.length;
    const still = [...this.#checks.values()]
      .flatMap((watched) => [...watched.values()])
      .filter((one) => !one.noticed);
    const places = (list: readonly Watched[]): IdleCheck[] =>
      list.map(({ query, check }) => placeOf(query, check));
    return {
      idle: places(still.filter(({ touched }) => isWhole || touched)),
      untried: places(still.filter(({ touched }) => !isWhole && !touched)),
    };
  }
}

const placeOf = (query: Query, check: CheckResult): IdleCheck => ({
  query: caseText(query),
  check: check.id,
  location: check.location,
});

/**
 * An empty set of mutants is not a good score. A bound needs measurements: it stays open if queries
 * lack a good recording, or if only rubrics could judge wrong answers, unless the result is certain
 * anyway. If the budget omitted changes, the mutants are a sample, and the whole interval must be
 * above the bound.
 */
function summaryOf(
  { rate, noticed, mutants, ci95 }: MutationScore,
  left: {
    readonly minScore: number | undefined;
    readonly forTheJudge: number;
    readonly uncovered: readonly string[];
    readonly notTried: number;
  },
): MutationResult['summary'] {
  const { minScore, forTheJudge, uncovered, notTried } = left;
  const bound = minScore === undefined ? {} : { min_score: minScore };
  if (rate === null) return { exit_code: 2, ...bound };
  if (minScore === undefined) return { exit_code: 0 };
  const all = mutants + forTheJudge;
  if ((noticed + forTheJudge) / all < minScore) return { exit_code: 1, ...bound };
  if (uncovered.length > 0)
    return {
      exit_code: 2,
      ...bound,
      undecided: `${plural(uncovered.length, 'query has', 'queries have')} no good recording`,
    };
  if (noticed / all >= minScore && notTried > 0 && (ci95?.low ?? 0) < minScore)
    return {
      exit_code: 2,
      ...bound,
      undecided: `${plural(notTried, 'change was', 'changes were')} left untried, and the lower end of the interval is below ${percentText(minScore)}; a larger --budget tries them`,
    };
  if (noticed / all >= minScore) return { exit_code: 0, ...bound };
  return {
    exit_code: 2,
    ...bound,
    undecided: `${plural(forTheJudge, 'wrong answer is', 'wrong answers are')} left to the rubrics, which were not asked`,
  };
}

const percentText = (share: number): string => `${Math.round(share * 1000) / 10} %`;

function scoreOf(outcomes: readonly Outcome[]): MutationScore {
  const noticed = outcomes.filter(({ isNoticed }) => isNoticed).length;
  const mutants = outcomes.length;
  const ci95 = clusteredRateInterval(
    outcomes.map(({ query, what, isNoticed }) => ({
      cluster: query,
      unit: what,
      isSuccess: isNoticed,
    })),
  );
  return { noticed, mutants, rate: mutants === 0 ? null : noticed / mutants, ci95 };
}

function survivorOf(
  { query, trace, parent, plan, advice }: Tried,
  secrets: KnownSecrets,
): Survivor {
  const { operator, site } = plan;
  return {
    query: caseText(query),
    recording: trace.source.file === undefined ? undefined : recordingOf(trace).place,
    operator: operator.name,
    layer: operator.layer,
    what: secrets.mask(site.what, trace),
    advice,
    ...(isMeant(query, parent, plan)
      ? { meant: true, meant_by: site.advice[0].key }
      : { meant: false }),
    location: query.location,
  };
}

/**
 * The query has the advised check, it passed on the good recording (a check that already warns
 * cannot notice more), and it covers the change.
 */
function isMeant(query: Query, parent: QueryResult, { site }: Planned): boolean {
  const [advice] = site.advice;
  const written = blockFor(query, advice)?.[advice.key];
  if (written === undefined || written === null) return false;
  const id = idOfAdvice(advice);
  const holds = checksOf(parent).some((check) => check.id === id && check.status === 'pass');
  return holds && (advice.isAbout?.(written) ?? true);
}
