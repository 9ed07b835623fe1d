import type { Turn } from './draft.ts';

/** What exporters write in place of a content they were told to keep to themselves. */
const MARKER =
  /^\s*(?:[[<({_*]{1,4}\s*(?:redacted|masked|scrubbed|withheld|filtered)\b[^\n]{0,40}[\])>}_*]|__redacted__|\*{3,})\s*$/i;

/** Whether a text only says that the real one is not there: then it was not captured. */
export const isWithheld = (value: unknown): boolean =>
  typeof value === 'string' && MARKER.test(value.slice(0, 100));

/** A reply of which nothing but such a marker is left says nothing, not even that no tool was called. */
export const isWithheldTurn = (turn: Turn): boolean =>
  (turn.calls ?? []).length === 0 &&
  turn.parts.length > 0 &&
  turn.parts.every((part) => part.type === 'text' && isWithheld(part.text));
