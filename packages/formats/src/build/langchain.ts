import type { LlmStep } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { finishOf } from './finish.ts';
import { fields, pick } from './values.ts';

const CLASSES: Readonly<Record<string, string>> = {
  HumanMessage: 'human',
  HumanMessageChunk: 'human',
  AIMessage: 'ai',
  AIMessageChunk: 'ai',
  ToolMessage: 'tool',
  ToolMessageChunk: 'tool',
  SystemMessage: 'system',
  SystemMessageChunk: 'system',
  FunctionMessage: 'tool',
  ChatMessage: 'human',
};
const TYPES = new Set(['human', 'ai', 'tool', 'system', 'function', ...Object.keys(CLASSES)]);

/**
 * Normalizes a LangChain message to a shape with a `role`: from the constructor form `{lc, id,
 * kwargs}`, the stored form `{type, data}` and the plain form `{type, content}`. Undefined for
 * anything else.
 */
export function langchainMessage(value: unknown): Fields | undefined {
  if (!isFields(value)) return undefined;
  if (value.lc === 1 && Array.isArray(value.id)) {
    const name = value.id.at(-1);
    if (typeof name !== 'string' || !Object.hasOwn(CLASSES, name)) return undefined;
    return { ...fields(value.kwargs), role: fields(value.kwargs).role ?? CLASSES[name] };
  }
  const { type, data } = value;
  if (typeof type !== 'string' || !TYPES.has(type) || 'role' in value) return undefined;
  const role = Object.hasOwn(CLASSES, type) ? CLASSES[type] : type;
  if (isFields(data) && 'content' in data) return { ...data, role };
  return 'content' in value && !('part_kind' in value)
    ? { ...value, role, type: undefined }
    : undefined;
}

/** Token counts: the message's, else the provider's. */
export function langchainUsage(message: Fields): unknown {
  const metadata = fields(message.response_metadata);
  return message.usage_metadata ?? pick(metadata, 'token_usage', 'tokenUsage', 'usage');
}

export function langchainModel(message: Fields): unknown {
  return pick(fields(message.response_metadata), 'model_name', 'model', 'modelName');
}

/** Why the reply ended, in whichever provider's words. */
export function langchainFinish(message: Fields): LlmStep['finish'] | undefined {
  return finishOf(
    pick(
      fields(message.response_metadata),
      'finish_reason',
      'stop_reason',
      'stopReason',
      'finishReason',
      'done_reason',
    ),
  );
}
