/** More precise than prices, and less than the errors of a different summation order. */
const DIGITS = 12;

/** A reported sum of money, independent of how its parts were grouped. */
export const settledUsd = (usd: number): number => Number(usd.toPrecision(DIGITS));
