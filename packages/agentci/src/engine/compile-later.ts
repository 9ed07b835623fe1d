import { setFlagsFromString } from 'node:v8';

/** V8's own is 132 KB of bytecode on Node 20, and less on later ones. */
const BUDGET = 300_000;
/** A longer run has the time to earn back what optimising costs. */
const MOST_RUNS = 5000;

/**
 * Has V8 run a function longer before it optimises it. A replay waits for no model, so it is over in seconds, and in that time every
 * thread optimises the same HTTP client for itself: a quarter of the processor time went into it. A run that asks models waits
 * for them, and has nothing to gain.
 */
export function compileLater(runs: number): void {
  if (runs <= MOST_RUNS) setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}
