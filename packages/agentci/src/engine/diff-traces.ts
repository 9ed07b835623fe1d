import { compareTraces, type DiffInput, type Judged } from '../baseline/compare-traces.ts';
import { evaluateLayer } from '../layers/evaluate-layer.ts';
import type { TraceDiff } from '../results/diff.ts';
import { LAYERS, type Layer, type LayerResult } from '../results/run-result.ts';
import { worstStatus } from '../results/status.ts';
import type { Trace } from '../trace/model.ts';
import { totals } from '../trace/totals.ts';

/**
 * What is different between two traces of one query: the answer and its verdict, the way taken, the price. Without given
 * verdicts the query's deterministic checks are evaluated on both sides.
 */
export function diffTraces(input: DiffInput): TraceDiff {
  const judged = input.judged ?? evaluateBoth(input);
  return compareTraces(judged === undefined ? input : { ...input, judged });
}

function evaluateBoth({ before, after, query, price }: DiffInput): DiffInput['judged'] {
  if (query === undefined || LAYERS.every((layer) => query[layer] === undefined)) return undefined;
  const evaluate = (trace: Trace): Judged => {
    const context = { trace, totals: totals(trace, price ? { price } : {}) };
    const layer = (name: Layer): LayerResult => evaluateLayer(name, query[name], context);
    const layers = { correctness: layer('correctness'), path: layer('path'), cost: layer('cost') };
    return { ...layers, status: worstStatus(LAYERS.map((name) => layers[name].status)) };
  };
  return { before: evaluate(before), after: evaluate(after) };
}
