import { isObject } from '@agentci/lib/data';
import type { CallsInSight } from './condition-type.ts';
import { ASIDE, type Aside, CALL_FIELDS, type CallValue } from './run-facts.ts';

/**
 * Selects the forms of multi-form results for an expression: those of its call and of earlier
 * calls.
 */
export interface View {
  readonly own: number;
  readonly earlier: number;
  /** Swaps structured values and JSON text, for an expression that fails on the original form. */
  readonly isTurned: boolean;
}

export const AS_CAPTURED: View = { own: 0, earlier: 0, isTurned: false };
/** Maximum number of views to try. */
const MAX_VIEWS = 1000;

/**
 * All views of the results for an expression. A server may answer in several forms (structured
 * content and text, or several texts), and a client may show its model any of them. Undefined if
 * there are too many.
 */
export function viewsAt(
  calls: CallsInSight,
  at: number,
  { own, earlier }: { readonly own: boolean; readonly earlier: boolean },
): readonly View[] | undefined {
  const owns = own ? formsIn(calls.value(at)) : 1;
  const before = earlier
    ? calls.previous(at).reduce((most, call) => Math.max(most, formsIn(call)), 1)
    : 1;
  if (owns * before === 1) return [AS_CAPTURED];
  if (owns * before > MAX_VIEWS) return undefined;
  return Array.from({ length: owns * before }, (_, i) => ({
    own: i % owns,
    earlier: Math.floor(i / owns),
    isTurned: false,
  }));
}

const formsIn = (call: CallValue): number => 1 + ((call[ASIDE] as Aside).forms?.length ?? 0);

/** The call with its result in the given form. Unchanged if it does not have that form. */
export function inForm(call: CallValue, form: number, isTurned: boolean): CallValue {
  const { forms = [] } = call[ASIDE] as Aside;
  if (forms.length === 0 || form > forms.length || (form === 0 && !isTurned)) return call;
  const shown: Record<string | typeof ASIDE, unknown> = { name: call.name, [ASIDE]: call[ASIDE] };
  const result = (): unknown => {
    const found = form === 0 ? call.result : forms[form - 1];
    return isTurned ? turned(found) : found;
  };
  for (const field of CALL_FIELDS)
    Object.defineProperty(shown, field, {
      enumerable: true,
      get: () => {
        if (field === 'result') return result();
        // The text of a failed call is both its result and its error.
        if (field !== 'error' || form === 0 || typeof call.error !== 'string') return call[field];
        return typeof forms[form - 1] === 'string' ? forms[form - 1] : call.error;
      },
    });
  return shown;
}

function turned(value: unknown): unknown {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) || Array.isArray(parsed) ? parsed : value;
  } catch {
    return value;
  }
}
