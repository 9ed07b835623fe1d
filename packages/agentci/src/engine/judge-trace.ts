import type { QueryResult } from '../results/run-result.ts';
import { metricRequests } from '../spec/metric-list.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import type { PriceLookup } from '../trace/totals.ts';
import type { BaselineShelf, ChosenBaseline } from './choose-baselines.ts';
import { type Draft, type EvaluateInput, evaluate } from './evaluate-query.ts';
import type { SuiteJudge } from './suite-judge.ts';
import type { SuiteMetrics } from './suite-metrics.ts';

/** The verdict on a trace; a promise only where something has to be read or asked for first. */
export type TraceJudge = (query: Query, trace: Trace) => QueryResult | Promise<QueryResult>;

/** Evaluates a trace with what the run provides: the baseline of the query, and prices where a cost must be computed. */
export function traceJudge(
  judge: SuiteJudge,
  shelf: Pick<BaselineShelf, 'has' | 'get'>,
  dir: string,
  metrics?: SuiteMetrics,
): TraceJudge {
  let price: PriceLookup | undefined;
  const metricTools = metrics ? metricToolsOf(metrics) : undefined;
  const verdict = (query: Query, trace: Trace, baseline?: ChosenBaseline) => {
    const input: Draft<EvaluateInput> = {
      query,
      trace,
      judge: judge.judge,
      dir,
      useEnsemble: judge.useEnsemble(query),
    };
    if (metricTools) input.metricTools = metricTools;
    if (baseline) input.baseline = baseline;
    if (price) input.price = price;
    return evaluate(input);
  };
  const prepared = async (query: Query, trace: Trace): Promise<QueryResult> => {
    const baseline = await shelf.get(query);
    // The price table is large; most recordings bring their cost along or have no cost check.
    if (
      asksForCost(query) &&
      price === undefined &&
      (needsPrices(trace) || (baseline && needsPrices(baseline.trace)))
    ) {
      const { loadPrices } = await import('../kit/prices.ts');
      price = (await loadPrices()).lookup;
    }
    return verdict(query, trace, baseline);
  };
  return (query, trace) => {
    const isReady = !shelf.has(query) && (!asksForCost(query) || price !== undefined || !needsPrices(trace));
    return isReady ? verdict(query, trace) : prepared(query, trace);
  };
}

const asksForCost = (query: Query): boolean =>
  query.cost !== undefined || metricRequests(query.metrics).some(({ name }) => name === 'cost');

const metricToolsOf = ({ custom, models }: SuiteMetrics) => ({ custom, ...(models ? { models } : {}) });

/** The cost must be computed from tokens: no total was reported and some call brings no cost of its own. */
export function needsPrices(trace: Trace): boolean {
  return (
    trace.reported?.cost === undefined &&
    trace.steps.some((step) => step.kind === 'llm' && step.usage !== undefined && !step.cost)
  );
}
