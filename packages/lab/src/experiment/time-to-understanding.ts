import { listItems } from '@agentci/metrics';
import type { Message, Step, Trace } from '@agentci/trace';
import { finalText, totals } from '@agentci/trace';

export type TimeToUnderstanding =
  | {
      readonly ok: true;
      readonly seconds: number;
      /** The step with usable output, or the whole run if steps have no times. */
      readonly from: 'step' | 'run';
      readonly step?: number;
    }
  | { readonly ok: false; readonly why: string };

/**
 * Seconds to the first usable output: a list of actions, or the final answer. A live run uses the
 * final answer and the runner's clock, whatever times the agent recorded. A recording uses the time
 * from its first step to the end of that output. Wrapper spans (agents, the root) do not count.
 * Without step times, it is the duration of the whole run.
 */
export function timeToUnderstanding(trace: Trace): TimeToUnderstanding {
  const wallMs = trace.reported?.wallMs;
  if (wallMs !== undefined) return { ok: true, seconds: wallMs / 1000, from: 'run' };
  const steps = trace.steps.some(isTimedLeaf)
    ? trace.steps.filter((step) => step.kind !== 'agent')
    : trace.steps;
  const begun = earliest(steps.map(({ t0 }) => t0));
  const usable = steps
    .filter((step) => step.t1 !== undefined && isUsable(step, trace))
    .reduce<Step | undefined>(
      (first, step) => (first === undefined || step.t1! < first.t1! ? step : first),
      undefined,
    );
  if (begun !== undefined && usable?.t1 !== undefined && usable.t1 >= begun)
    return { ok: true, seconds: (usable.t1 - begun) / 1000, from: 'step', step: usable.seq };
  const { latencyMs } = totals(trace);
  if (latencyMs.exact) return { ok: true, seconds: latencyMs.value / 1000, from: 'run' };
  return { ok: false, why: latencyMs.why };
}

const isTimedLeaf = ({ kind, t0, t1 }: Step): boolean =>
  kind === 'llm' && t0 !== undefined && t1 !== undefined;

const earliest = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

function isUsable(step: Step, trace: Trace): boolean {
  if (step.kind !== 'llm' && step.kind !== 'agent') return false;
  const text = step.output === undefined ? undefined : textOf(step.output);
  if (text === undefined || text.trim() === '') return false;
  return listItems(text).length > 0 || text.trim() === finalText(trace)?.trim();
}

const textOf = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
