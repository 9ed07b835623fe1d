const G = 7;
/** Lanczos coefficients for g = 7, n = 9: about 15 correct digits for positive arguments. */
const COEFFICIENTS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
] as const;

/** Natural logarithm of the gamma function for positive arguments. */
export function lnGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
  const shifted = x - 1;
  let sum = COEFFICIENTS[0] as number;
  for (let i = 1; i < COEFFICIENTS.length; i++) sum += COEFFICIENTS[i]! / (shifted + i);
  const t = shifted + G + 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(sum);
}

const TINY = 1e-300;
const PRECISION = 1e-16;
const MAX_STEPS = 10_000;

/**
 * The upper regularized incomplete gamma function Q(a, x). Exact in the tail, where 1 − P would
 * lose every digit.
 */
export function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - lnGamma(a));
  if (x < a + 1) return 1 - front * lowerSeries(a, x);
  // Lentz's method for the continued fraction.
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < MAX_STEPS; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / nonZero(an * d + b);
    c = nonZero(b + an / c);
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < PRECISION) break;
  }
  return front * h;
}

function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < MAX_STEPS; n++) {
    term *= x / (a + n);
    sum += term;
    if (Math.abs(term) < Math.abs(sum) * PRECISION) break;
  }
  return sum;
}

/** Keeps a continued fraction running through a zero denominator. */
export const nonZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value);
