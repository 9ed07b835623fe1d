import { isObject, present } from '@agentci/lib/data';
import type { CallOutcome } from '@agentci/policy';
import { otherForms } from '@agentci/policy';
import type { Message } from '../message.ts';

/** Fields without content that a reader sees. */
const FORMAL = new Set(['content', 'structuredContent', 'isError', 'resultType']);

/**
 * The outcome of a call as a recording would show it, and the other parts of the answer, because a
 * client may show its model any part.
 */
export function outcomeOf({
  result,
  error,
}: Message): CallOutcome & { readonly error: string | null } {
  if (error !== undefined) {
    const { message, ...others } = isObject(error) ? error : { message: undefined, error };
    const { code: _, ...rest } = others as Record<string, unknown>;
    return {
      error: typeof message === 'string' ? message : 'error',
      ...saidOf(
        present([typeof message === 'string' ? undefined : message, ...Object.values(rest)]),
      ),
    };
  }
  if (!isObject(result)) return { result: result ?? null, error: null };
  const { content, structuredContent, isError } = result;
  const texts = textsIn(content);
  const value = structuredContent ?? texts ?? result;
  const rest = Object.entries(result).filter(([key]) => !FORMAL.has(key));
  const said =
    value === result
      ? []
      : present([
          structuredContent === undefined || structuredContent === null || content === undefined
            ? undefined
            : (texts ?? content),
          ...(texts === undefined ? [] : decorationsIn(content as readonly object[])),
          rest.length === 0 ? undefined : Object.fromEntries(rest),
        ]);
  const forms = otherForms(
    (Array.isArray(content) ? content : []).flatMap((part: unknown) => textOf(part) ?? []),
    value,
  );
  return {
    result: value,
    error: isError === true ? (texts ?? 'error') : null,
    ...saidOf(said),
    forms: forms.length !== 0 ? forms : undefined,
  };
}

/** The text of a content part, or of its resource. */
function textOf(part: unknown): string | undefined {
  if (!isObject(part)) return undefined;
  const { text } = part.type === 'resource' && isObject(part.resource) ? part.resource : part;
  return typeof text === 'string' ? text : undefined;
}

function saidOf(parts: readonly unknown[]): { readonly said?: readonly unknown[] } {
  const given = parts.filter((part) => part !== undefined && part !== null);
  return given.length === 0 ? {} : { said: given };
}

/** The text of a content without other parts. */
function textsIn(content: unknown): string | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((part: unknown) =>
    isObject(part) && part.type === 'text' ? part.text : undefined,
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}

/** Metadata next to texts. */
const decorationsIn = (content: readonly object[]): unknown[] =>
  content.flatMap((part) => {
    const rest = Object.entries(part).filter(([key]) => key !== 'type' && key !== 'text');
    return rest.length === 0 ? [] : [Object.fromEntries(rest)];
  });
