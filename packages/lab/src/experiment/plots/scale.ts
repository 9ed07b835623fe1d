/** Maps values to pixels, with round numbers for the axis. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
  readonly label: (tick: number) => string;
}

const WANTED_TICKS = 6;
const DUST = 1e-9;

/** A scale over the range of the values, widened to round numbers. */
export function scaleOf(
  values: readonly number[],
  {
    from,
    to,
    least,
  }: { readonly from: number; readonly to: number; readonly least?: number | undefined },
): Scale {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high)) [low, high] = [0, 1];
  // Values this close are equal up to rounding errors.
  if (high - low <= Math.max(1, Math.abs(low), Math.abs(high)) * DUST) {
    // A range proportional to the value, because half a dollar around a cent would show nothing.
    const size = Math.max(Math.abs(low), Math.abs(high));
    const half = size < 1e-7 ? 0.5 : Math.min(0.5, size / 2);
    [low, high] = [low - half, high + half];
  }
  if (least !== undefined && low < least) low = least;
  if (!(low < high)) high = low + 1;
  const step = roundStep((high - low) / WANTED_TICKS);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  const start = first * step;
  const width = (last - first) * step;
  return {
    at: (value) => from + ((value - start) / width) * (to - from),
    ticks,
    label: (tick) => tick.toFixed(Math.min(10, decimals)),
  };
}

/** 1, 2 or 5 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = rough / power;
  let step: number;
  if (factor <= 1) step = 1;
  else if (factor <= 2) step = 2;
  else if (factor <= 5) step = 5;
  else step = 10;
  return step * power;
}
