import type { PriceTable } from '@agentci/lib/prices';
import type { Trace } from '@agentci/trace';
import { totals } from '@agentci/trace';
import { needsPrices } from './evaluate-trace.ts';

/** The known cost of a run. */
export interface RunCost {
  readonly usd: number;
  /** Whether it is complete. */
  readonly isWhole: boolean;
}

/** The cost of a run as its report shows it: as recorded, otherwise computed from its tokens. */
export async function runCost(trace: Trace): Promise<RunCost> {
  const { costUsd } = totals(
    trace,
    needsPrices(trace) ? { price: (await priceTable()).lookup } : {},
  );
  return costUsd.exact
    ? { usd: costUsd.value, isWhole: true }
    : { usd: costUsd.atLeast, isWhole: false };
}

let loading: Promise<PriceTable> | undefined;

/** Loaded on demand: it is large, and most agents report their cost. */
function priceTable(): Promise<PriceTable> {
  loading ??= import('@agentci/lib/prices').then(({ loadPrices }) => loadPrices());
  return loading;
}
