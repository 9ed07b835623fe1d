import type { QueryResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { PriceLookup, Trace, Usage } from '@agentci/trace';
import type { Outside } from './asks-of.ts';
import type { BaselineShelf } from './choose-baselines.ts';
import { evaluate } from './evaluate-query.ts';
import type { SuiteJudge } from './suite-judge.ts';
import type { SuiteMetrics } from './suite-metrics.ts';

/** Gives the verdict on a trace. */
export type TraceEvaluator = (query: Query, trace: Trace) => Promise<QueryResult>;

/** Evaluates a trace with what the run provides: the baseline of the query, and prices where a cost must be computed. */
export function createEvaluator(
  judge: SuiteJudge,
  shelf: Pick<BaselineShelf, 'has' | 'get'>,
  dir: string,
  {
    metrics,
    outside,
  }: { readonly metrics?: SuiteMetrics | undefined; readonly outside?: Outside | undefined } = {},
): TraceEvaluator {
  let price: PriceLookup | undefined;
  const metricTools = metrics && { custom: metrics.custom, models: metrics.models };
  return async (query, trace) => {
    const baseline = shelf.has(query) ? await shelf.get(query) : undefined;
    // The price table is large, and most recordings bring their cost along.
    if (price === undefined && (needsPrices(trace) || (baseline && needsPrices(baseline.trace)))) {
      const { loadPrices } = await import('@agentci/lib/prices');
      price = (await loadPrices()).lookup;
    }
    return evaluate({
      query,
      trace,
      judge: judge.judge,
      dir,
      useEnsemble: judge.useEnsemble(query),
      metricTools,
      outside,
      baseline,
      price,
    });
  };
}

/**
 * The cost can only be computed from tokens: no total was reported, and some call, or a run whose calls were not
 * recorded, brings tokens and a model and no cost. What a query asks for makes no difference, so equal runs cost the same.
 */
export function needsPrices(trace: Trace): boolean {
  if (trace.reported?.cost !== undefined) return false;
  let calls = 0;
  for (const step of trace.steps) {
    if (step.kind !== 'llm') continue;
    calls++;
    if (step.cost === undefined && step.model !== undefined && isPriceable(step.usage)) return true;
  }
  return calls === 0 && typeof trace.meta.model === 'string' && isPriceable(trace.reported?.usage);
}

const isPriceable = (usage: Usage | undefined): boolean =>
  usage?.input !== undefined && usage.output !== undefined;
