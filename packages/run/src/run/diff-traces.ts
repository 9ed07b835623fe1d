import { evaluateLayer } from '@agentci/checks';
import type { TraceDiff } from '@agentci/results';
import { LAYERS, type Layer, type LayerResult, worstStatus } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import { totals } from '@agentci/trace';
import { compareTraces, type DiffInput, type Judged } from '../baseline/compare-traces.ts';

/**
 * Compares two traces of one query: the answer and its verdict, the path, and the cost. Without
 * given verdicts it evaluates the query's deterministic checks on both sides.
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
