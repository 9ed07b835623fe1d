import { normalQuantile, type PairedVerdicts, pairedRateAt } from '@agentci/stats';

/** What was seen, and by which rule it is decided. Losses: positive is worse. */
export interface Seen {
  readonly mean: number;
  /** Of the paired losses. */
  readonly variance: number;
  /** The loss that is allowed; 0 where any counts. */
  readonly margin: number;
  readonly alpha: number;
  /** Comparisons that share `alpha`. */
  readonly tests: number;
  /** Fewest pairs that the rule decides anything on. */
  readonly least: number;
  /** The verdicts of both sides, where there is one of each query. */
  readonly table?: PairedVerdicts | undefined;
}

const POWER = 0.8;
const MOST = 1e6;

/**
 * Pairs that would decide it with a chance of 80 %, if the truth is what was seen: that it got worse by more than is allowed, that
 * it got better, or that it moved by less than is allowed. Null where no number would: the loss seen is just the allowed one.
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

/** The interval clear of its bound by `gap`, and a test of the whole `effect`, which may share its level with others. */
function shown({ variance, alpha, tests, table }: Seen, gap: number, effect: number): number {
  const zb = normalQuantile(POWER);
  const interval = ((zOf(alpha) + zb) ** 2 * variance) / gap ** 2;
  const za = zOf(alpha / tests);
  if (table === undefined) return Math.max(interval, ((za + zb) ** 2 * variance) / effect ** 2);
  // Connor's formula: under no difference the verdicts that flip vary by as many as there are.
  const { passToFail, failToPass } = table;
  const flips = (passToFail + failToPass) / sizeOf(table);
  const root = za * Math.sqrt(flips) + zb * Math.sqrt(Math.max(0, flips - effect ** 2));
  return Math.max(gap === effect ? 0 : interval, (root / effect) ** 2);
}

/** Both ends of the interval within the margin. */
function within({ mean, variance, margin, alpha, table }: Seen): number | null {
  const gap = margin - Math.abs(mean);
  const za = zOf(alpha);
  // Either end may miss, unless the loss seen is near one of them.
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
