import type { Turn } from './draft.ts';

/** Markers that exporters write instead of withheld content. */
const MARKER =
  /^\s*(?:[[<({_*]{1,4}\s*(?:redacted|masked|scrubbed|withheld|filtered)\b[^\n]{0,40}[\])>}_*]|__redacted__|\*{3,})\s*$/i;

/** Whether a text is such a marker, so that the content was not captured. */
export const isWithheld = (value: unknown): boolean =>
  typeof value === 'string' && MARKER.test(value.slice(0, 100));

/** A reply with only a marker proves nothing, not even that no tool was called. */
export const isWithheldTurn = (turn: Turn): boolean =>
  (turn.calls ?? []).length === 0 &&
  turn.parts.length > 0 &&
  turn.parts.every((part) => part.type === 'text' && isWithheld(part.text));
