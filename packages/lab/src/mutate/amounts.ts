import type { Trace } from '@agentci/trace';
import { type Quantity, type Totals, totals } from '@agentci/trace';
import { scaled } from './edit-trace.ts';
import type { Site } from './operator.ts';

const FACTOR = 10;
/** Enough for normal variation, too little for an operator's change. */
const HEADROOM = 2;

/** Multiplies a recorded amount by ten. Empty if it was not recorded. */
export function amountSites(
  trace: Trace,
  options: {
    readonly what: 'cost' | 'usage' | 'time';
    readonly words: string;
    readonly read: (totals: Totals) => Quantity;
    readonly key: string;
    readonly rounded: (limit: number) => number;
  },
): Site[] {
  const { what, words, read, key, rounded } = options;
  const before = read(totals(trace));
  if (!before.exact || before.value === 0 || !Number.isFinite(before.value * FACTOR)) return [];
  const limit = rounded(before.value * HEADROOM);
  return [
    {
      what: `ten times the ${words}`,
      make: () => scaled(trace, what, FACTOR),
      advice: [{ layer: 'cost', key, value: limit }],
    },
  ];
}
