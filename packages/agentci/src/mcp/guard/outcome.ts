import { isObject } from '../../kit/object.ts';
import type { Message } from '../message.ts';

/** What a call came to, as a recording of the same answer tells it. */
export function outcomeOf({ result, error }: Message): { readonly result?: unknown; readonly error: string | null } {
  if (error !== undefined)
    return { error: isObject(error) && typeof error.message === 'string' ? error.message : 'error' };
  const fields = isObject(result) ? result : {};
  const texts = textsIn(fields.content);
  const value = fields.structuredContent ?? texts ?? result ?? null;
  if (fields.isError === true) return { result: value, error: texts ?? 'error' };
  return { result: value, error: null };
}

/** The text of a content that has nothing else. */
function textsIn(content: unknown): string | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((part: unknown) => (isObject(part) && part.type === 'text' ? part.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}
