import { normalQuantile, type PairedVerdicts, pairedRateAt } from '@agentci/stats';

/** The observed losses and the decision rule. A positive loss is worse. */
export interface Seen {
  readonly mean: number;
  /** Variance of the paired losses. */
  readonly variance: number;
  /** The allowed loss. 0 if any loss counts. */
  readonly margin: number;
  readonly alpha: number;
  /** Number of comparisons that share `alpha`. */
  readonly tests: number;
  /** Minimum number of pairs for any verdict. */
  readonly least: number;
  /** The verdicts of both sides, if every query has a single one. */
  readonly table?: PairedVerdicts | undefined;
}

const POWER = 0.8;
const MOST = 1e6;

/**
 * Number of pairs that would settle the comparison with 80 % power if the observed effect is real:
 * worse by more than the allowed loss, better, or moved by less than the allowed loss. Null if no
 * number would, because the observed loss equals the allowed one.
 */
export function neededPairs(seen: Seen): number | null {
  const { mean, margin } = seen;
  const ways = [
    mean > margin ? shown(seen, mean - margin, mean) : null,
    mean < 0 ? shown(seen, -mean, -mean) : null,
    Math.abs(mean) < margin ? within(seen) : null,
  ].filter((n) => n !== null);
  if (ways.length === 0) return null;
  const needed = Math.max(seen.least, Math.ceil(Math.min(...ways)));
  return needed > MOST ? null : needed;
}

/**
 * Pairs needed to keep the interval clear of its bound by `gap` and to find the whole `effect` in a
 * test that may share its level with others.
 */
function shown({ variance, alpha, tests, table }: Seen, gap: number, effect: number): number {
  const zb = normalQuantile(POWER);
  const interval = ((zOf(alpha) + zb) ** 2 * variance) / gap ** 2;
  const za = zOf(alpha / tests);
  if (table === undefined) return Math.max(interval, ((za + zb) ** 2 * variance) / effect ** 2);
  // Connor's formula: without a difference, the variance of the flips equals their number.
  const { passToFail, failToPass } = table;
  const flips = (passToFail + failToPass) / sizeOf(table);
  const root = za * Math.sqrt(flips) + zb * Math.sqrt(Math.max(0, flips - effect ** 2));
  return Math.max(gap === effect ? 0 : interval, (root / effect) ** 2);
}

/** Pairs needed for both ends of the interval to lie within the margin. */
function within({ mean, variance, margin, alpha, table }: Seen): number | null {
  const gap = margin - Math.abs(mean);
  const za = zOf(alpha);
  // Either end may miss, unless the observed loss is close to one of them.
  const zb = normalQuantile(mean === 0 ? (1 + POWER) / 2 : POWER);
  const share = variance > 0 ? za / (za + zb) : 1;
  if (table === undefined) return variance === 0 ? 0 : ((za + zb) ** 2 * variance) / gap ** 2;
  const n = sizeOf(table);
  const fits = (pairs: number): boolean => {
    const scale = pairs / n;
    const at = pairedRateAt(
      {
        bothPass: table.bothPass * scale,
        passToFail: table.passToFail * scale,
        failToPass: table.failToPass * scale,
        bothFail: table.bothFail * scale,
      },
      1 - alpha,
    );
    return at !== null && Math.max(at.high - mean, mean - at.low) <= gap * share;
  };
  let [low, high] = [1, 2];
  while (!fits(high)) {
    if (high > MOST) return null;
    [low, high] = [high, high * 2];
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const zOf = (alpha: number): number => -normalQuantile(alpha / 2);

const sizeOf = ({ bothPass, passToFail, failToPass, bothFail }: PairedVerdicts): number =>
  bothPass + passToFail + failToPass + bothFail;
