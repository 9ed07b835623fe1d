import { setFlagsFromString } from 'node:v8';

/** V8's own is 132 KB of bytecode on Node 20, and less on later ones. */
const BUDGET = 300_000;
/** A longer run has the time to earn back what optimising costs. */
const MOST_RUNS = 5000;

/**
 * Has V8 run a function longer before it optimises it. For runs that are over in a second or two and keep the processor busy: a
 * replay, in which every thread optimises the same HTTP client for itself, and the collector of a queue, which shares the machine
 * with its workers more often than not. A quarter of their processor time went into optimising. A run that asks models waits for
 * them, and has nothing to gain.
 */
export function compileLater(runs: number): void {
  if (runs <= MOST_RUNS) setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}
