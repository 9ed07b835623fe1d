import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';

/** More than any plan has, so that a hostile answer does not cost minutes. */
const MAX_ACTIONS = 1000;
const MAX_LENGTH = 10_000;
const LIST_ITEM = /^[ \t]{0,100}(?:[-*+•]|\d{1,9}[.)])[ \t]+(\S.*)$/;

export type ActionSource =
  /** The list items of the answer. */
  | 'list'
  /** A JSON pointer into the answer, such as `/actions`. */
  | `/${string}`;

export type FoundActions =
  | { readonly ok: true; readonly actions: readonly string[] }
  | { readonly ok: false; readonly why: string };

/**
 * The actions that an answer proposes. An answer without list items proposes none. Only a missing
 * answer cannot be read.
 */
export function actionsOf(trace: Trace, source: ActionSource = 'list'): FoundActions {
  const text = finalText(trace);
  if (text === undefined || text.trim() === '')
    return { ok: false, why: 'the recording has no answer' };
  if (source === 'list') {
    const { data } = trace.final ?? {};
    if (Array.isArray(data)) return strings(data, 'the answer');
    return { ok: true, actions: listItems(text) };
  }
  return fromPointer(trace.final?.data ?? parsed(text), source);
}

/** The items of bulleted and numbered lists, without their markers. */
export function listItems(text: string): string[] {
  const items: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const item = LIST_ITEM.exec(line)?.[1]?.trim();
    if (item !== undefined && items.length < MAX_ACTIONS) items.push(item.slice(0, MAX_LENGTH));
  }
  return items;
}

function fromPointer(document: unknown, pointer: string): FoundActions {
  if (document === undefined)
    return { ok: false, why: `the answer is not JSON, so ${pointer} leads nowhere` };
  let current: unknown = document;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key))
      return { ok: false, why: `the answer has nothing at ${pointer}` };
    current = (current as Record<string, unknown>)[key];
  }
  if (typeof current === 'string') return { ok: true, actions: listItems(current) };
  return Array.isArray(current)
    ? strings(current, pointer)
    : { ok: false, why: `${pointer} is not a list` };
}

function strings(list: readonly unknown[], where: string): FoundActions {
  const actions = list.slice(0, MAX_ACTIONS);
  if (!actions.every((action): action is string => typeof action === 'string'))
    return { ok: false, why: `${where} holds something other than texts` };
  return {
    ok: true,
    actions: actions.map((action) => action.trim().slice(0, MAX_LENGTH)).filter(Boolean),
  };
}

/** The JSON in an answer, with or without a code fence. */
function parsed(text: string): unknown {
  const fenced = /^```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(text.trim());
  try {
    return JSON.parse(fenced?.[1] ?? text) as unknown;
  } catch {
    return undefined;
  }
}
