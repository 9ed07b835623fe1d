import type { Trace } from '@agentci/trace';
import { llmCalls } from '@agentci/trace';
import type { Amount } from './readings.ts';

/**
 * EcoLogits' published fit for one output token of a dense model on a server GPU: watt hours grow
 * linearly with active parameters (billions), times the overhead of the data center. It ignores
 * prompt tokens.
 */
const WH_PER_TOKEN_AND_BILLION = 8.91e-5;
const WH_PER_TOKEN = 1.43e-3;
const DATA_CENTRE_OVERHEAD = 1.2;
const WH_PER_KWH = 1000;

/**
 * Active parameters in billions, if the model's name contains them: `llama-3.1-70b`, but not
 * `mixtral-8x7b`.
 */
function billionsOf(model: string): number | undefined {
  const found = /(?<![\d.x])(\d{1,4}(?:\.\d{1,2})?)b(?![a-z0-9])/i.exec(model);
  return found === null || /\d+x\d/i.test(model) ? undefined : Number(found[1]);
}

/** Energy from output tokens and model size. Undefined if either is unknown for any call. */
export function estimateEnergy(
  trace: Trace | null | undefined,
  activeBillions?: number,
): Amount | undefined {
  if (trace?.captured.llmCalls !== 'full') return undefined;
  const calls = llmCalls(trace);
  if (calls.length === 0) return undefined;
  let wattHours = 0;
  for (const { usage, model, requestModel } of calls) {
    const size = activeBillions ?? billionsOf(model ?? requestModel ?? '');
    if (usage?.output === undefined || size === undefined) return undefined;
    wattHours +=
      usage.output * (WH_PER_TOKEN_AND_BILLION * size + WH_PER_TOKEN) * DATA_CENTRE_OVERHEAD;
  }
  return {
    value: wattHours / WH_PER_KWH,
    method: 'estimated from output tokens and model size (EcoLogits fit, overhead 1.2)',
  };
}

/** Why there is neither a reading nor an estimate, with the way out. */
export function noEnergyReason(trace: Trace | null | undefined): string {
  if (trace?.captured.llmCalls !== 'full') return 'no energy reading';
  const calls = llmCalls(trace);
  const unsized = calls.find(
    ({ model, requestModel }) => billionsOf(model ?? requestModel ?? '') === undefined,
  );
  if (unsized !== undefined)
    return `no energy reading, and the size of the model "${unsized.model ?? unsized.requestModel ?? 'unknown'}" is not known: give active_params_b`;
  return calls.length === 0
    ? 'no energy reading'
    : 'no energy reading, and a call without its output tokens';
}
