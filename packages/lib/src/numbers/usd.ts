/** Far below what a price is given to, and above what is lost where a sum is made in another order. */
const DIGITS = 12;

/** A sum of money as it is reported: the same however its parts were grouped, in one process or in many. */
export const settledUsd = (usd: number): number => Number(usd.toPrecision(DIGITS));
