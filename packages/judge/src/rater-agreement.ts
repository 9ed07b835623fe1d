import type { Interval } from '@agentci/stats';
import { cohenKappa, quantile, seededRandom, wilsonInterval } from '@agentci/stats';
import type { Label } from './labels.ts';

/** Agreement of two raters on the answers that both labelled. */
export interface RaterPair {
  readonly a: string;
  readonly b: string;
  readonly n: number;
  readonly agreed: number;
  /** Interval of the agreement rate. */
  readonly agreed_interval: Interval | null;
  /** Null if one of them gave the same label throughout, because κ is then 0 or undefined. */
  readonly kappa: number | null;
  /** Bootstrap over the answers. Null if too few resamples have a κ. */
  readonly kappa_interval: Interval | null;
}

const RESAMPLES = 1000;
/** Maximum total draws, so that many labels do not take seconds. */
const MAX_DRAWS = 2_000_000;

/** All pairs of raters with at least one common answer. */
export function raterPairs(labels: readonly Label[], seed = 0): RaterPair[] {
  const byRater = new Map<string, Map<string, boolean>>();
  for (const { rater, id, human } of labels) {
    if (rater === undefined) continue;
    const own = byRater.get(rater) ?? new Map<string, boolean>();
    byRater.set(rater, own.set(id, human));
  }
  const raters = [...byRater.keys()].sort();
  return raters.flatMap((a, i) =>
    raters.slice(i + 1).flatMap((b) => {
      const second = byRater.get(b)!;
      const both = [...byRater.get(a)!].flatMap(([id, said]) =>
        second.has(id) ? [[said, second.get(id)!] as const] : [],
      );
      return both.length === 0 ? [] : [pairOf(a, b, both, seed)];
    }),
  );
}

type Both = readonly (readonly [boolean, boolean])[];

function pairOf(a: string, b: string, both: Both, seed: number): RaterPair {
  const agreed = both.filter(([x, y]) => x === y).length;
  return {
    a,
    b,
    n: both.length,
    agreed,
    agreed_interval: wilsonInterval(agreed, both.length),
    kappa: kappaOf(both),
    kappa_interval: kappaInterval(both, seed),
  };
}

function kappaOf(both: Both): number | null {
  const first = both.map(([x]) => x);
  const second = both.map(([, y]) => y);
  return usesBoth(first) && usesBoth(second) ? cohenKappa(first, second) : null;
}

const usesBoth = (said: readonly boolean[]): boolean => said.includes(true) && said.includes(false);

function kappaInterval(both: Both, seed: number): Interval | null {
  if (kappaOf(both) === null) return null;
  const random = seededRandom(seed);
  const resamples = Math.min(RESAMPLES, Math.max(200, Math.floor(MAX_DRAWS / both.length)));
  const estimates: number[] = [];
  for (let i = 0; i < resamples; i++) {
    const estimate = kappaOf(both.map(() => both[Math.floor(random() * both.length)]!));
    if (estimate !== null) estimates.push(estimate);
  }
  // If chance often explains everything, an interval of the remaining samples would be too narrow.
  if (both.length < 2 || estimates.length < resamples * 0.9) return null;
  return { low: quantile(estimates, 0.025)!, high: quantile(estimates, 0.975)! };
}

/** The majority label of each answer. Ties have none. */
export function settleLabels(labels: readonly Label[]): { settled: Label[]; disputed: string[] } {
  const byId = new Map<string, Label[]>();
  for (const label of labels) byId.set(label.id, [...(byId.get(label.id) ?? []), label]);
  const settled: Label[] = [];
  const disputed: string[] = [];
  for (const [id, given] of byId) {
    const passes = given.filter(({ human }) => human).length;
    if (passes * 2 === given.length) disputed.push(id);
    else settled.push(given.find(({ human }) => human === passes * 2 > given.length)!);
  }
  return { settled, disputed };
}
