import { formatCount } from '../text/words.ts';

/** Numbers for people. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd.toFixed(decimalsOf(Math.abs(usd)))}`;
}

const MAX_DECIMALS = 12;

/** A price is never shown as zero: below a hundredth of a cent it keeps two significant digits. */
function decimalsOf(usd: number): number {
  if (usd >= 1) return 2;
  return usd >= 0.0001 ? 4 : Math.min(MAX_DECIMALS, 1 - Math.floor(Math.log10(usd)));
}

export function formatMs(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1000) return `${whole} ms`;
  if (whole < 9995) return `${(ms / 1000).toFixed(2)} s`;
  if (whole < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < HOUR)
    return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 2 * 24 * 60) return inTwo(minutes, 60, 'h', 'min');
  return inTwo(Math.round(minutes / 60), 24, 'd', 'h');
}

const HOUR = 3600;

/** `24 h`, `1 h 5 min`, `30 d 2 h`: omits a second part of zero. */
function inTwo(count: number, size: number, large: string, small: string): string {
  const rest = count % size;
  return `${formatCount(Math.floor(count / size))} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

/** A measured number with its unit. */
export function formatMeasure(value: number, unit: string | undefined): string {
  if (unit === 'USD') return formatUsd(value);
  if (unit === 'ms') return formatMs(value);
  return `${shortNumber(value)}${unit === undefined ? '' : ` ${unitFor(value, unit)}`}`;
}

/** `1 question`, `2 questions`. Units such as `ms` and `USD` have one form. */
export const unitFor = (value: number, unit: string): string =>
  value === 1 && /^\p{Ll}{3,}[^s]s$/u.test(unit) ? unit.slice(0, -1) : unit;

/** Four decimals would show it as 0. */
const isTiny = (value: number): boolean => value !== 0 && Math.abs(value) < 5e-5;

const shortNumber = (value: number): string =>
  isTiny(value) ? value.toPrecision(2) : formatCount(Math.round(value * 1e4) / 1e4);

/** `p = 0.031`, and `p < 0.001` instead of 0. */
export const formatP = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);
