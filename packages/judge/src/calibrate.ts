import { sha256Hex } from '@agentci/lib/data';
import type { Interval } from '@agentci/stats';
import { cohenKappa, judgeCorrectedRate, seededRandom, wilsonInterval } from '@agentci/stats';
import { judgeThreshold } from './threshold.ts';

/** A human label and the judge's score for one answer. */
export interface LabelledScore {
  readonly id: string;
  readonly human: boolean;
  /** 1 to 5. The mean for an ensemble. */
  readonly score: number;
  /** The passing score of its rubric, if the rows have several. */
  readonly min_score?: number;
  /** At least half of an ensemble voted `fail`, so no score makes it a pass. */
  readonly vetoed?: boolean;
}

/** Agreement of a judge with people at one passing score. "Positive" is a pass. */
export interface Agreement {
  readonly n: number;
  /** Null if the rows have different ones. */
  readonly min_score: number | null;
  readonly confusion: {
    readonly true_pass: number;
    readonly false_pass: number;
    readonly true_fail: number;
    readonly false_fail: number;
  };
  readonly accuracy: number | null;
  readonly accuracy_interval: Interval | null;
  /** Null if one side gave the same label throughout, so chance explains everything. */
  readonly kappa: number | null;
  /** Share of human passes, without which κ means little. */
  readonly base_rate: number | null;
  /** Share of human passes that the judge passes. */
  readonly tpr: number | null;
  /** Share of human failures that the judge fails. */
  readonly tnr: number | null;
}

export interface Calibration extends Agreement {
  /**
   * The best passing score on one half of the labels, measured on the other half. Null for rows
   * with different scores.
   */
  readonly best_threshold: {
    readonly min_score: number;
    readonly chosen_on: Agreement;
    readonly measured_on: Agreement;
  } | null;
  /**
   * The judge's pass rate on the second half, and the true rate implied by the TPR and TNR of the
   * first half.
   */
  readonly pass_rate: {
    readonly judged: number | null;
    /** Rogan and Gladen's estimate. Null if the judge is no better than chance. */
    readonly corrected: number | null;
    readonly corrected_interval: Interval | null;
    readonly human: number | null;
  };
}

const MAX_RESAMPLES = 1000;
/** Maximum total draws, so that many labels do not take minutes. */
const MAX_DRAWS = 20_000_000;

/**
 * Compares a judge with people, each row at its own passing score, else at that of `threshold`.
 * Splits by a hash of the id, stratified by label, so that the same labels give the same halves.
 */
export function calibrate(
  given: readonly LabelledScore[],
  options: { readonly threshold: number; readonly seed: number },
): Calibration {
  const written = judgeThreshold(options.threshold);
  const rows = given.map((row) => ({ ...row, min_score: row.min_score ?? written }));
  const lines = new Set(rows.map(({ min_score }) => min_score));
  const only = lines.size > 1 ? undefined : ([...lines][0] ?? written);
  const { dev, test } = halves(rows, options.seed);
  const best = only === undefined ? undefined : bestScore(dev, only);
  return {
    ...agreement(rows, only ?? null),
    best_threshold:
      best === undefined
        ? null
        : { min_score: best, chosen_on: agreement(dev, best), measured_on: agreement(test, best) },
    pass_rate: {
      judged: share(test, passes),
      corrected: correctedRate(dev, test),
      corrected_interval: correctedInterval(dev, test, options.seed),
      human: share(test, ({ human }) => human),
    },
  };
}

type Row = LabelledScore & { readonly min_score: number };

const passesAt = ({ score, vetoed }: LabelledScore, min: number): boolean =>
  score >= min && vetoed !== true;

const passes = (row: Row): boolean => passesAt(row, row.min_score);

function halves(rows: readonly Row[], seed: number): { dev: Row[]; test: Row[] } {
  const dev: Row[] = [];
  const test: Row[] = [];
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

/** The pass rate of the second half, corrected with the accuracy on the first. */
function correctedRate(dev: readonly Row[], test: readonly Row[]): number | null {
  const rate = share(test, passes);
  const truePositiveRate = share(
    dev.filter(({ human }) => human),
    passes,
  );
  const falsePositiveRate = share(
    dev.filter(({ human }) => !human),
    passes,
  );
  if (rate === null || truePositiveRate === null || falsePositiveRate === null) return null;
  return judgeCorrectedRate({ rate, truePositiveRate, trueNegativeRate: 1 - falsePositiveRate });
}

/** Resamples both halves, because with few labels the TPR and TNR are as uncertain as the rate. */
function correctedInterval(
  dev: readonly Row[],
  test: readonly Row[],
  seed: number,
): Interval | null {
  const random = seededRandom(seed);
  const draw = (rows: readonly Row[]): Row[] =>
    rows.map(() => rows[Math.floor(random() * rows.length)]!);
  const resamples = Math.min(
    MAX_RESAMPLES,
    Math.floor(MAX_DRAWS / Math.max(1, dev.length + test.length)),
  );
  const rates: number[] = [];
  for (let i = 0; i < resamples; i++) {
    const rate = correctedRate(draw(dev), draw(test));
    if (rate !== null) rates.push(rate);
  }
  // If the judge is often no better than chance, an interval of the remaining samples would be too
  // narrow.
  if (rates.length < resamples * 0.9 || rates.length < 100) return null;
  rates.sort((a, b) => a - b);
  return {
    low: rates[Math.floor(rates.length * 0.025)]!,
    high: rates[Math.ceil(rates.length * 0.975) - 1]!,
  };
}

/** Agreement with people if this score or more is a pass. Null uses each row's own. */
export function agreement(rows: readonly LabelledScore[], min_score: number | null): Agreement {
  const judge = rows.map((row) =>
    passesAt(row, min_score ?? row.min_score ?? Number.POSITIVE_INFINITY),
  );
  const count = (human: boolean, said: boolean): number =>
    rows.filter((row, i) => row.human === human && judge[i] === said).length;
  const confusion = {
    true_pass: count(true, true),
    false_pass: count(false, true),
    true_fail: count(false, false),
    false_fail: count(true, false),
  };
  const n = rows.length;
  const right = confusion.true_pass + confusion.true_fail;
  const humanPasses = confusion.true_pass + confusion.false_fail;
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
    base_rate: n === 0 ? null : humanPasses / n,
    tpr: humanPasses === 0 ? null : confusion.true_pass / humanPasses,
    tnr: n === humanPasses ? null : confusion.true_fail / (n - humanPasses),
  };
}

/**
 * The score with the highest κ; ties go to the one closest to the spec. 1 passes everything and is
 * excluded.
 */
function bestScore(rows: readonly LabelledScore[], written: number): number {
  const kappaOf = (score: number): number =>
    agreement(rows, score).kappa ?? Number.NEGATIVE_INFINITY;
  return [2, 3, 4, 5].sort(
    (a, b) => kappaOf(b) - kappaOf(a) || Math.abs(a - written) - Math.abs(b - written),
  )[0]!;
}

const share = <R>(rows: readonly R[], is: (row: R) => boolean): number | null =>
  rows.length === 0 ? null : rows.filter(is).length / rows.length;
