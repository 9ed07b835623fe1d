import { upperGamma } from './gamma.ts';

/** Probability that a standard normal value is above z. Also exact far out in the tail. */
export function normalTail(z: number): number {
  const half = upperGamma(0.5, (z * z) / 2) / 2;
  return z >= 0 ? half : 1 - half;
}

/** Probability that a standard normal value is at most z. */
export const normalCdf = (z: number): number => normalTail(-z);

const A = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
];
const B = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
];
const C = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
];
const D = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
const TAIL = 0.02425;

/**
 * The z below which a standard normal value stays with probability p: Acklam's approximation, then
 * two Halley steps.
 */
export function normalQuantile(p: number): number {
  if (p <= 0) return Number.NEGATIVE_INFINITY;
  if (p >= 1) return Number.POSITIVE_INFINITY;
  if (p > 0.5) return -normalQuantile(1 - p);
  let z = approximate(p);
  for (let i = 0; i < 2; i++) {
    const error = normalCdf(z) - p;
    const step = error * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2);
    z -= step / (1 + (z * step) / 2);
  }
  return z;
}

function approximate(p: number): number {
  if (p < TAIL) {
    const q = Math.sqrt(-2 * Math.log(p));
    return polynomial(C, q) / (polynomial(D, q) * q + 1);
  }
  const q = p - 0.5;
  const r = q * q;
  return (polynomial(A, r) * q) / (polynomial(B, r) * r + 1);
}

const polynomial = (coefficients: readonly number[], x: number): number =>
  coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);

/** The z of a two-sided interval: 1.96 for 0.95. */
export const twoSidedZ = (level: number): number => -normalQuantile((1 - level) / 2);
