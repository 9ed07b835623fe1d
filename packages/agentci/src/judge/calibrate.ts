import { sha256Hex } from '../kit/hash.ts';
import { cohenKappa } from '../stats/cohen-kappa.ts';
import type { Interval } from '../stats/interval.ts';
import { judgeCorrectedRate } from '../stats/judge-corrected-rate.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import { wilsonInterval } from '../stats/wilson-interval.ts';
import { judgeThreshold } from './threshold.ts';

/** One answer that a person has judged, and the judge's score for it. */
export interface LabelledScore {
  readonly id: string;
  /** What the person said. */
  readonly human: boolean;
  /** 1 to 5. */
  readonly score: number;
}

/** How far a judge agrees with people at one passing score. "Positive" is a pass. */
export interface Agreement {
  readonly n: number;
  readonly min_score: number;
  readonly confusion: {
    readonly true_pass: number;
    readonly false_pass: number;
    readonly true_fail: number;
    readonly false_fail: number;
  };
  readonly accuracy: number | null;
  readonly accuracy_interval: Interval | null;
  /** Null when one of the two gave the same label throughout and chance explains everything. */
  readonly kappa: number | null;
  /** Share of human passes: κ means little without it. */
  readonly base_rate: number | null;
  /** Share of human passes the judge passes. */
  readonly tpr: number | null;
  /** Share of human failures the judge fails. */
  readonly tnr: number | null;
}

export interface Calibration extends Agreement {
  /** The passing score chosen on one half of the labels and measured on the other, which it has not seen. */
  readonly best_threshold: {
    readonly min_score: number;
    readonly chosen_on: Agreement;
    readonly measured_on: Agreement;
  };
  /** The judge's pass rate on the second half, and what it says about the true one with the first half's TPR and TNR. */
  readonly pass_rate: {
    readonly judged: number | null;
    /** Rogan and Gladen; null when the judge is no better than chance. */
    readonly corrected: number | null;
    readonly corrected_interval: Interval | null;
    readonly human: number | null;
  };
}

const MAX_RESAMPLES = 1000;
/** Rows drawn in all, so that many labels do not take minutes. */
const MAX_DRAWS = 20_000_000;

/** Compares a judge with people. The halves are split by a hash of the id, passes and failures evenly: the same labels give the same halves. */
export function calibrate(
  rows: readonly LabelledScore[],
  options: { readonly threshold: number; readonly seed: number },
): Calibration {
  const { dev, test } = halves(rows, options.seed);
  const written = judgeThreshold(options.threshold);
  const best = bestScore(dev, written);
  return {
    ...agreement(rows, written),
    best_threshold: { min_score: best, chosen_on: agreement(dev, best), measured_on: agreement(test, best) },
    pass_rate: {
      judged: share(test, ({ score }) => score >= written),
      corrected: correctedRate(dev, test, written),
      corrected_interval: correctedInterval(dev, test, written, options.seed),
      human: share(test, ({ human }) => human),
    },
  };
}

function halves(rows: readonly LabelledScore[], seed: number): { dev: LabelledScore[]; test: LabelledScore[] } {
  const dev: LabelledScore[] = [];
  const test: LabelledScore[] = [];
  const place = new Map(rows.map(({ id }) => [id, sha256Hex(`${seed}\n${id}`)]));
  for (const human of [true, false]) {
    const group = rows.filter((row) => row.human === human);
    group.sort((a, b) => (place.get(a.id)! < place.get(b.id)! ? -1 : 1));
    const middle = Math.ceil(group.length / 2);
    dev.push(...group.slice(0, middle));
    test.push(...group.slice(middle));
  }
  return { dev, test };
}

/** The pass rate of the second half, corrected with how often the judge was right on the first. */
function correctedRate(
  dev: readonly LabelledScore[],
  test: readonly LabelledScore[],
  min_score: number,
): number | null {
  const isPass = ({ score }: LabelledScore): boolean => score >= min_score;
  const rate = share(test, isPass);
  const truePositiveRate = share(
    dev.filter(({ human }) => human),
    isPass,
  );
  const falsePositiveRate = share(
    dev.filter(({ human }) => !human),
    isPass,
  );
  if (rate === null || truePositiveRate === null || falsePositiveRate === null) return null;
  return judgeCorrectedRate({ rate, truePositiveRate, trueNegativeRate: 1 - falsePositiveRate });
}

/** Both halves are resampled: with few labels the TPR and TNR are as uncertain as the rate itself. */
function correctedInterval(
  dev: readonly LabelledScore[],
  test: readonly LabelledScore[],
  min_score: number,
  seed: number,
): Interval | null {
  const random = seededRandom(seed);
  const draw = (rows: readonly LabelledScore[]): LabelledScore[] =>
    rows.map(() => rows[Math.floor(random() * rows.length)]!);
  const resamples = Math.min(MAX_RESAMPLES, Math.floor(MAX_DRAWS / Math.max(1, dev.length + test.length)));
  const rates: number[] = [];
  for (let i = 0; i < resamples; i++) {
    const rate = correctedRate(draw(dev), draw(test), min_score);
    if (rate !== null) rates.push(rate);
  }
  // Where the judge is often no better than chance, an interval of the rest would be too narrow.
  if (rates.length < resamples * 0.9 || rates.length < 100) return null;
  rates.sort((a, b) => a - b);
  return { low: rates[Math.floor(rates.length * 0.025)]!, high: rates[Math.ceil(rates.length * 0.975) - 1]! };
}

/** How far the judge agrees with people when this score or more is a pass. */
export function agreement(rows: readonly LabelledScore[], min_score: number): Agreement {
  const count = (human: boolean, judge: boolean): number =>
    rows.filter((row) => row.human === human && row.score >= min_score === judge).length;
  const confusion = {
    true_pass: count(true, true),
    false_pass: count(false, true),
    true_fail: count(false, false),
    false_fail: count(true, false),
  };
  const n = rows.length;
  const right = confusion.true_pass + confusion.true_fail;
  const passes = confusion.true_pass + confusion.false_fail;
  const judge = rows.map(({ score }) => score >= min_score);
  return {
    n,
    min_score,
    confusion,
    accuracy: n === 0 ? null : right / n,
    accuracy_interval: wilsonInterval(right, n),
    kappa: cohenKappa(
      judge,
      rows.map(({ human }) => human),
    ),
    base_rate: n === 0 ? null : passes / n,
    tpr: passes === 0 ? null : confusion.true_pass / passes,
    tnr: n === passes ? null : confusion.true_fail / (n - passes),
  };
}

/** The score with the highest κ; of equals the one nearest to what the spec says. 1 passes everything and is not a candidate. */
function bestScore(rows: readonly LabelledScore[], written: number): number {
  const kappaOf = (score: number): number => agreement(rows, score).kappa ?? Number.NEGATIVE_INFINITY;
  return [2, 3, 4, 5].sort((a, b) => kappaOf(b) - kappaOf(a) || Math.abs(a - written) - Math.abs(b - written))[0]!;
}

const share = (rows: readonly LabelledScore[], is: (row: LabelledScore) => boolean): number | null =>
  rows.length === 0 ? null : rows.filter(is).length / rows.length;
