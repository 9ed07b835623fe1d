import { DEFAULT_WEIGHTS, type DecisionQualityWeights, weighted } from '@agentci/metrics';
import type { ComponentDrivers, Trial, WeightPoint, WeightSensitivity } from '@agentci/results';
import { mean } from '@agentci/stats';
import { groupTrials } from './group-trials.ts';

export interface SensitivityOptions {
  /** The reference weights. Default: 0.4, 0.3, 0.3. */
  readonly weights?: DecisionQualityWeights;
  /** Grid distance of the weights. Default: 0.05. */
  readonly step?: number;
}

/** Means closer than this tie, because of rounding errors. */
const TIE = 1e-9;
const DEFAULT_STEP = 0.05;

/**
 * The order of the conditions for every mix of weights on a grid over the simplex. Null with fewer
 * than two complete conditions.
 */
export function weightSensitivity(
  trials: readonly Trial[],
  options: SensitivityOptions = {},
): WeightSensitivity | null {
  const { weights = DEFAULT_WEIGHTS, step = DEFAULT_STEP } = options;
  const cells = Math.round(1 / step);
  if (!(cells >= 1 && cells <= 200 && Math.abs(cells * step - 1) < 1e-9))
    throw new RangeError(`a step divides 1 into at most 200 parts, which ${step} does not`);
  const parts = partsOf(trials);
  if (parts.size < 2) return null;
  const reference = { ...pointAt(parts, weights), order: 'same' as const };
  const points: WeightPoint[] = [];
  for (let v = 0; v <= cells; v++) {
    for (let s = 0; s <= cells - v; s++) {
      const at = {
        validity: v / cells,
        specificity: s / cells,
        correctness: (cells - v - s) / cells,
      };
      const point = pointAt(parts, at);
      points.push({ ...point, order: orderAgainst(point.ranking, reference.ranking) });
    }
  }
  const share = (order: WeightPoint['order']): number =>
    points.filter((point) => point.order === order).length / points.length;
  const wins = [...parts.keys()].map((condition): [string, number] => {
    const won = points.filter(({ ranking: [best] }) => best?.length === 1 && best[0] === condition);
    return [condition, won.length / points.length];
  });
  return {
    step,
    reference,
    points,
    rank_stability: { same: share('same'), tied: share('tied'), different: share('different') },
    wins: Object.fromEntries(wins),
    drivers: driversOf(parts, weights),
  };
}

/**
 * The contribution of each component to the difference of two conditions, in points of decision
 * quality and as a share.
 */
function driversOf(parts: Parts, weights: DecisionQualityWeights): ComponentDrivers[] {
  const conditions = [...parts];
  return conditions.flatMap(([a, before], i) =>
    conditions.slice(i + 1).map(([b, after]): ComponentDrivers => {
      const total = weights.validity + weights.specificity + weights.correctness;
      const points = (part: keyof DecisionQualityWeights): number =>
        (weights[part] * (after[part] - before[part])) / total;
      const difference = points('validity') + points('specificity') + points('correctness');
      const driver = (part: keyof DecisionQualityWeights) => ({
        points: points(part),
        share: Math.abs(difference) < TIE ? null : points(part) / difference,
      });
      return {
        a,
        b,
        difference,
        components: {
          validity: driver('validity'),
          specificity: driver('specificity'),
          correctness: driver('correctness'),
        },
      };
    }),
  );
}

type Parts = ReadonlyMap<string, DecisionQualityWeights>;

/**
 * The mean of a weighted sum is the weighted sum of the means, so three means per condition are
 * enough.
 */
function partsOf(trials: readonly Trial[]): Parts {
  const parts = new Map<string, DecisionQualityWeights>();
  for (const [condition, group] of groupTrials(trials)) {
    const scored = group.filter(
      ({ error, validity, specificity, correctness }) =>
        error === undefined &&
        [validity, specificity, correctness].every((part) => Number.isFinite(part)),
    );
    if (scored.length === 0) continue;
    parts.set(condition, {
      validity: mean(scored.map(({ validity }) => validity!))!,
      specificity: mean(scored.map(({ specificity }) => specificity!))!,
      correctness: mean(scored.map(({ correctness }) => correctness!))!,
    });
  }
  return parts;
}

function pointAt(parts: Parts, weights: DecisionQualityWeights): Omit<WeightPoint, 'order'> {
  const means = [...parts].map(([condition, part]): [string, number] => [
    condition,
    weighted(part, weights),
  ]);
  const ranking: string[][] = [];
  let last: number | undefined;
  for (const [condition, value] of [...means].sort(([, a], [, b]) => b - a)) {
    if (last !== undefined && last - value < TIE) ranking.at(-1)!.push(condition);
    else ranking.push([condition]);
    last = value;
  }
  const { validity, specificity, correctness } = weights;
  return {
    weights: { validity, specificity, correctness },
    means: Object.fromEntries(means),
    ranking: ranking.map((tied) => tied.sort()),
  };
}

/** `tied`: no order was reversed, but a tie appeared or disappeared. */
function orderAgainst(
  ranking: readonly string[][],
  reference: readonly string[][],
): WeightPoint['order'] {
  const placeIn = (ranks: readonly string[][]) =>
    new Map(ranks.flatMap((tied, place) => tied.map((condition) => [condition, place] as const)));
  const here = placeIn(ranking);
  const there = placeIn(reference);
  let order: WeightPoint['order'] = 'same';
  for (const a of here.keys()) {
    for (const b of here.keys()) {
      const now = Math.sign(here.get(a)! - here.get(b)!);
      const before = Math.sign(there.get(a)! - there.get(b)!);
      if (now * before < 0) return 'different';
      if (now !== before) order = 'tied';
    }
  }
  return order;
}
