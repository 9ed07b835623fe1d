import type { GivenValue } from './stream/given-value.ts';

/** Reads what a function gave back in pieces; `started` is when it was called. */
export function consume(value: unknown, started: number): Promise<GivenValue>;
