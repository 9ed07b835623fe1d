import type { LlmStep } from '../../trace/model.ts';

const FINISH: Readonly<Record<string, NonNullable<LlmStep['finish']>>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos: 'stop',
  completed: 'stop',
  'tool-calls': 'tool_calls',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  content_filter: 'content_filter',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
  error: 'error',
};

/** Why a reply ended, in one vocabulary. */
export function finishOf(value: unknown): LlmStep['finish'] | undefined {
  const said = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (said === undefined || said === '') return undefined;
  return Object.hasOwn(FINISH, said) ? FINISH[said] : 'other';
}
