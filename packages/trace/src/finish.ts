import type { LlmStep, Trace } from './model.ts';
import { llmCalls } from './selectors.ts';

const FINISH: Readonly<Record<string, NonNullable<LlmStep['finish']>>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos: 'stop',
  complete: 'stop',
  completed: 'stop',
  'tool-calls': 'tool_calls',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  max_completion_tokens: 'length',
  max_new_tokens: 'length',
  model_length: 'length',
  token_limit: 'length',
  context_length_exceeded: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content_filter',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
  image_safety: 'content_filter',
  recitation: 'content_filter',
  blocklist: 'content_filter',
  prohibited_content: 'content_filter',
  spii: 'content_filter',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
  error: 'error',
};

/** Keys under which providers report why a reply ended. */
export const FINISH_KEYS = [
  'finish_reason',
  'stop_reason',
  'finishReason',
  'stopReason',
  'done_reason',
] as const;

/** The reason that a reply ended, in one vocabulary. */
export function finishOf(value: unknown): LlmStep['finish'] | undefined {
  // Some SDKs print the name of their enum: `FinishReason.MAX_TOKENS`, `FINISH_REASON_MAX_TOKENS`.
  const said =
    typeof value === 'string'
      ? value.toLowerCase().replace(/^(?:finish_?reason|stop_?reason)[._]/, '')
      : undefined;
  if (said === undefined || said === '') return undefined;
  return Object.hasOwn(FINISH, said) ? FINISH[said] : 'other';
}

/** Why the answer ended: as the source says it of the answer, else of the call that gave it, which is the last one. */
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
