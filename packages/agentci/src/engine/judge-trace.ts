import type { QueryResult } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import type { PriceLookup } from '../trace/totals.ts';
import type { BaselineShelf } from './choose-baselines.ts';
import { evaluateQuery } from './evaluate-query.ts';
import type { SuiteJudge } from './suite-judge.ts';

/** Evaluates a trace with what the run provides: the baseline of the query, and prices where a cost must be computed. */
export function traceJudge(
  judge: SuiteJudge,
  shelf: BaselineShelf | undefined,
  dir: string,
): (query: Query, trace: Trace) => Promise<QueryResult> {
  let prices: Promise<PriceLookup> | undefined;
  return async (query, trace) => {
    const baseline = await shelf?.get(query);
    // The price table is large; most recordings bring their cost along or have no cost check.
    if (query.cost && (needsPrices(trace) || (baseline && needsPrices(baseline.trace)))) {
      prices ??= import('../kit/prices.ts').then(async ({ loadPrices }) => (await loadPrices()).lookup);
    }
    const price = await prices;
    return evaluateQuery({
      query,
      trace,
      ...(baseline ? { baseline } : {}),
      judge: judge.judge,
      useEnsemble: judge.useEnsemble(query),
      dir,
      ...(price ? { price } : {}),
    });
  };
}

/** The cost must be computed from tokens: no total was reported and some call brings no cost of its own. */
export function needsPrices(trace: Trace): boolean {
  return (
    trace.reported?.cost === undefined &&
    trace.steps.some((step) => step.kind === 'llm' && step.usage !== undefined && !step.cost)
  );
}
