import type { QueryResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { PriceLookup, Trace, Usage } from '@agentci/trace';
import type { BaselineSet } from './choose-baselines.ts';
import type { Outside } from './collect-asks.ts';
import { evaluate } from './evaluate-query.ts';
import type { SuiteJudge } from './suite-judge.ts';
import type { SuiteMetrics } from './suite-metrics.ts';

/** Judges a trace. */
export type TraceEvaluator = (query: Query, trace: Trace) => Promise<QueryResult>;

/** Evaluates a trace with the baseline of the query, and with prices if a cost must be computed. */
export function createEvaluator(
  judge: SuiteJudge,
  baselines: Pick<BaselineSet, 'has' | 'get'>,
  dir: string,
  {
    metrics,
    outside,
  }: { readonly metrics?: SuiteMetrics | undefined; readonly outside?: Outside | undefined } = {},
): TraceEvaluator {
  let price: PriceLookup | undefined;
  const metricTools = metrics && { custom: metrics.custom, models: metrics.models };
  return async (query, trace) => {
    const baseline = baselines.has(query) ? await baselines.get(query) : undefined;
    // The price table is large, and most recordings include their cost.
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
 * The cost can only be computed from tokens: there is no total, and some call (or the run, if calls
 * were not recorded) has tokens and a model but no cost. Independent of the checks of the query, so
 * that equal runs cost the same.
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
