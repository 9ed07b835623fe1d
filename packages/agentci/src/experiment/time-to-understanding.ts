import { listItems } from '../metrics/decision-quality/actions.ts';
import type { Message, Step, Trace } from '../trace/model.ts';
import { finalText } from '../trace/selectors.ts';
import { totals } from '../trace/totals.ts';

export type TimeToUnderstanding =
  | {
      readonly ok: true;
      readonly seconds: number;
      /** The step that said something usable, or the whole run where steps have no times. */
      readonly from: 'step' | 'run';
      readonly step?: number;
    }
  | { readonly ok: false; readonly why: string };

/**
 * Seconds from the first step to the first usable output: an output that lists actions, or is the final answer.
 * Where no step says when, the duration of the whole run.
 */
export function timeToUnderstanding(trace: Trace): TimeToUnderstanding {
  const begun = startOf(trace);
  const usable =
    begun === undefined ? undefined : trace.steps.find((step) => step.t1 !== undefined && isUsable(step, trace));
  if (begun !== undefined && usable?.t1 !== undefined && usable.t1 >= begun)
    return { ok: true, seconds: (usable.t1 - begun) / 1000, from: 'step', step: usable.seq };
  const { latencyMs } = totals(trace);
  if (latencyMs.exact) return { ok: true, seconds: latencyMs.value / 1000, from: 'run' };
  return { ok: false, why: latencyMs.why };
}

function startOf({ startedAt, steps }: Trace): number | undefined {
  let first = startedAt;
  for (const { t0 } of steps) if (t0 !== undefined && (first === undefined || t0 < first)) first = t0;
  return first;
}

function isUsable(step: Step, trace: Trace): boolean {
  if (step.kind !== 'llm' && step.kind !== 'agent') return false;
  const text = step.output === undefined ? undefined : textOf(step.output);
  if (text === undefined || text.trim() === '') return false;
  return listItems(text).length > 0 || text.trim() === finalText(trace)?.trim();
}

const textOf = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
