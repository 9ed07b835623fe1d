import type { CallLists } from '../call-table.ts';
import type { Selector } from '../selectors.ts';
import { callNumbers, defineRule } from './rule.ts';

export const rule = defineRule({
  type: 'sequence',
  summary:
    'These tools must be called in this order once the first of them is. `strict` allows no other call between them.',
  fields: {
    tools: { kind: 'selectors', required: true, wanted: true },
    strict: { kind: 'flag', default: false },
  },
  inspect: ({ tools }) => (tools.length < 2 ? 'a sequence needs at least two tools' : undefined),
  subjects: ['tools'],
  operands: ({ tools, strict }) =>
    `${tools.map(({ label }) => label).join('->')}${strict ? '!' : ''}`,
  evaluate: (values, { table, complete }) => {
    const { tools, strict } = values;
    const order = tools.map(({ label }) => label).join(', then ');
    const expected = strict ? `${order}, with no other call between` : order;
    const { matched, broken } = progressOf(values, table, table.calls.length);
    if (broken !== undefined)
      return {
        outcome: 'violated',
        spanned: [...matched, broken],
        expected,
        actual: `${table.calls[broken]!.name} at ${callNumbers([broken])} where ${tools[matched.length]!.label} was expected`,
        brokenBy: [broken],
      };
    if (matched.length === tools.length)
      return {
        outcome: 'held',
        spanned: matched,
        expected,
        actual: `in order at ${callNumbers(matched)}`,
      };
    if (matched.length === 0)
      return {
        outcome: 'not_exercised',
        spanned: [],
        expected,
        actual: 'none of the tools was called',
      };
    const missing = tools[matched.length]!.label;
    return complete
      ? {
          outcome: 'violated',
          spanned: matched,
          expected,
          actual: `the run ended before ${missing}`,
        }
      : {
          outcome: 'not_exercised',
          spanned: [],
          expected,
          actual: `still open: ${missing} is next`,
        };
  },
  breaks: (values, calls, at) => {
    const { matched, broken } = progressOf(values, calls, at + 1);
    if (broken !== at) return undefined;
    return `${calls.calls[at]!.name} called where ${values.tools[matched.length]!.label} was expected`;
  },
  open: ({ tools }) => `${tools.at(-1)!.label} to be reached once ${tools[0]!.label} was called`,
});

interface Values {
  readonly tools: readonly Selector[];
  readonly strict: boolean;
}

interface Progress {
  /** The calls matched by the sequence so far. */
  readonly matched: readonly number[];
  /** The first call out of order. */
  readonly broken?: number;
}

/**
 * Progress of the sequence within the first `end` calls. Uses the lists of the tools' calls: the
 * next tool's first call after the last match counts, unless a later tool (with `strict`: any call)
 * came before it.
 */
function progressOf({ tools, strict }: Values, calls: CallLists, end: number): Progress {
  const matched: number[] = [];
  let from = 0;
  while (matched.length < tools.length) {
    const member = matched.length;
    const next = firstFrom(calls.indices(tools[member]!), from, end);
    let broken = end;
    for (const later of tools.slice(member + 1))
      broken = Math.min(broken, firstFrom(calls.indices(later), from, end));
    // Between two members, no other call is allowed.
    if (strict && member > 0 && from < end && next !== from) broken = from;
    if (broken < next) return { matched, broken };
    if (next >= end) break;
    matched.push(next);
    from = next + 1;
  }
  return { matched };
}

/** The first item of a sorted list that is at least `from`. `end` if none is before it. */
function firstFrom(list: readonly number[], from: number, end: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < from) low = middle + 1;
    else high = middle;
  }
  const found = list[low];
  return found === undefined || found >= end ? end : found;
}
