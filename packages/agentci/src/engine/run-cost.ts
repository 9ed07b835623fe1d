import type { PriceTable } from '../kit/prices.ts';
import type { Trace } from '../trace/model.ts';
import { totals } from '../trace/totals.ts';
import { needsPrices } from './evaluate-trace.ts';

/** What a run cost, as far as it is known. */
export interface RunCost {
  readonly usd: number;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

/** The cost of a run as its report shows it: as it was recorded, else computed from its tokens. */
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

/** Large, and most agents tell their cost. */
function priceTable(): Promise<PriceTable> {
  loading ??= import('../kit/prices.ts').then(({ loadPrices }) => loadPrices());
  return loading;
}
