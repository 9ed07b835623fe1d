import { finishOf } from './finish.ts';
import type { LlmStep, Trace } from './model.ts';
import { llmCalls } from './selectors.ts';

/** Why the answer ended: as the source reports for the answer, else for the last model call. */
export function finishOfAnswer(trace: Trace): {
  readonly finish: LlmStep['finish'];
  readonly step?: LlmStep;
} {
  const { final, meta } = trace;
  if (final?.finish !== undefined) return { finish: final.finish };
  const calls = llmCalls(trace);
  const step = calls.find(({ id }) => id === final?.step) ?? calls.at(-1);
  if (step?.finish !== undefined) return { finish: step.finish, step };
  return { finish: finishOf(meta.stop_reason ?? meta.finish_reason) };
}
