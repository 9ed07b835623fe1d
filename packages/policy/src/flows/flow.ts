import { present } from '@agentci/lib/data';
import { REDACTED, redact } from '@agentci/lib/secrets';
import type { CallLists } from '../call-table.ts';
import { answersAt, known, sentAt } from '../call-texts.ts';
import type { CompiledRule } from '../compile-rules.ts';
import { CannotTell, type Condition } from '../condition-type.ts';
import type { ConstraintPlace } from '../constraint.ts';
import { callNumbers } from '../rules/rule.ts';
import { type Selector, withConditions } from '../selectors.ts';
import { type Carried, CarriedTexts, carriedForm, leavesOf } from './carried-text.ts';
import { withoutEnvelope } from './envelope.ts';

/** A valid rule that forbids a data flow. */
export interface Flow {
  readonly id?: string;
  readonly from: Selector;
  /** Path inside the result. */
  readonly path: readonly string[];
  readonly to: Selector;
  /** Path inside the arguments. Empty for all of them. */
  readonly argument: readonly string[];
  /** Conditions of `when` and `agents` on the later call. */
  readonly conditions: readonly Condition[];
  /** The approving calls, which may have conditions on their results. */
  readonly approvals?: Selector;
  readonly place?: ConstraintPlace;
}

/** Remembered results and matches of one run. */
interface Memory {
  readonly texts: CarriedTexts;
  readonly added: Set<number>;
  readonly found: Map<number, Carried>;
  next: number;
}

/** The call has an answer of any kind. */
const ANSWERED: Condition = {
  label: '',
  needsResult: true,
  looksAtResults: true,
  test: (calls, at) => {
    const answers = answersAt(calls, at, []);
    return answers instanceof CannotTell ? answers : true;
  },
};

/** The call has an answer without an error. */
export const SUCCEEDED: Condition = {
  label: '',
  needsResult: true,
  looksAtResults: true,
  test: (calls, at) => {
    const error = known(() => calls.value(at).error);
    return error instanceof CannotTell ? error : error === null;
  },
};

/**
 * Forbids that a value from a result of one tool reaches an argument of a later call. Each later
 * call is judged separately.
 */
export function compileFlow(flow: Flow): CompiledRule {
  const source: Selector = { ...flow.from, conditions: [ANSWERED] };
  const later = withConditions(flow.to, flow.conditions);
  const key = {};
  const argument = flow.argument.length === 0 ? 'any argument' : flow.argument.join('.');
  const operands = `${flow.from.label}.${['result', ...flow.path].join('.')}->${flow.to.label}.${flow.argument.join('.') || '*'}`;
  const expected = `nothing of ${flow.from.label} in ${argument} of ${flow.to.label}`;
  const carries: Condition = {
    label: '',
    needsResult: false,
    looksAtResults: true,
    // Every table contains the lists of the calls.
    test: (calls, at) => carriedAt(calls as CallLists, at),
  };
  const hit: Selector = { ...later, conditions: [...(later.conditions ?? []), carries] };
  const selectors = present([source, later, hit, flow.approvals]);

  const memoryOf = (calls: CallLists): Memory =>
    calls.memo(key, () => ({
      texts: new CarriedTexts(),
      added: new Set(),
      found: new Map(),
      next: 0,
    }));

  function carriedAt(calls: CallLists, at: number): boolean | CannotTell {
    const memory = memoryOf(calls);
    remember(calls, at, { memory, source, path: flow.path });
    const given = sentAt(calls, at, flow.argument);
    if (given instanceof CannotTell)
      return calls.indices(source).some((i) => i < at) ? given : false;
    const found = memory.texts.find(given);
    if (found === undefined || found === 'too_long')
      return whyNotFound(calls, at, { source, memory, isTooLong: found === 'too_long' });
    const approved = isApproved(flow, calls, found.from, at);
    if (approved !== false) return approved === true ? false : approved;
    memory.found.set(at, found);
    return true;
  }

  const told = (calls: CallLists, at: number): string =>
    carriedText(calls, at, memoryOf(calls).found.get(at)!, flow.argument);

  return {
    id: flow.id ?? `flow:${operands}`,
    type: 'flow',
    constraint: `flow: ${operands}`,
    line: flow.place?.line ?? null,
    column: flow.place?.column ?? null,
    selectors,
    doubts: [hit],
    isPerCall: true,
    needsResult: flow.conditions.some(({ needsResult }) => needsResult),
    looksAtResults: true,
    evaluate: ({ table }) => {
      const broken = table.indices(hit);
      if (broken.length === 0) return unbroken(flow, table, { source, later, expected });
      const reads = broken.flatMap((at) => [memoryOf(table).found.get(at)!.from, at]);
      return {
        outcome: 'violated',
        spanned: [...new Set(reads)].sort((a, b) => a - b),
        expected,
        actual: told(table, broken[0]!),
        brokenBy: broken,
      };
    },
    breaks: (calls, at) => (calls.isMeant(hit, at) ? told(calls, at) : undefined),
  };
}

function carriedText(
  calls: CallLists,
  at: number,
  { from, text, kind }: Carried,
  argument: Flow['argument'],
): string {
  const what = kind === 'value' ? 'a value' : 'a passage';
  const quoted = isOpen(text, sentAt(calls, at, argument)) ? `"${text}"` : REDACTED;
  return `${calls.calls[at]!.name} at ${callNumbers([at])} carries ${what} of ${calls.calls[from]!.name} at ${callNumbers([from])}: ${quoted}`;
}

/** The reason why a negative search is uncertain. Undefined if it is certain. */
function whyNotFound(
  calls: CallLists,
  at: number,
  {
    source,
    memory,
    isTooLong,
  }: { readonly source: Selector; readonly memory: Memory; readonly isTooLong: boolean },
): false | CannotTell {
  const unread = calls.unknown(source).find((i) => i < at);
  if (unread !== undefined) return new CannotTell(calls.why(source, unread));
  if (isTooLong)
    return new CannotTell(`the arguments of call ${at + 1} are too long to look through`);
  return memory.texts.isFull
    ? new CannotTell('the results before it are too long to remember')
    : false;
}

/** The verdict if nothing was carried over. */
function unbroken(
  flow: Flow,
  table: CallLists,
  { source, later, expected }: { source: Selector; later: Selector; expected: string },
): ReturnType<CompiledRule['evaluate']> {
  const first = table.indices(source)[0];
  const after = first === undefined ? [] : table.indices(later).filter((at) => at > first);
  if (after.length === 0)
    return {
      outcome: 'not_exercised',
      spanned: [],
      expected,
      actual: `no ${flow.to.label} after ${flow.from.label}`,
    };
  return {
    outcome: 'held',
    spanned: [first!, ...after],
    expected,
    actual: `nothing of it at ${callNumbers(after)}`,
  };
}

/** Adds the source's results before a call. */
function remember(
  calls: CallLists,
  at: number,
  { memory, source, path }: { memory: Memory; source: Selector; path: Flow['path'] },
): void {
  const list = calls.indices(source);
  // A late result may be inserted before others in the list.
  if (memory.next > 0 && !memory.added.has(list[memory.next - 1]!)) memory.next = 0;
  while (memory.next < list.length && list[memory.next]! < at) {
    const index = list[memory.next++]!;
    if (memory.added.has(index)) continue;
    memory.added.add(index);
    const answers = answersAt(calls, index, path);
    // Calls in the list have known answers.
    if (!(answers instanceof CannotTell))
      memory.texts.add(
        answers.map((part) => part.map(withoutEnvelope)),
        index,
      );
  }
}

/** One approval after the read covers the next call. */
function isApproved(flow: Flow, calls: CallLists, read: number, at: number): boolean | CannotTell {
  if (flow.approvals === undefined) return false;
  const since = Math.max(read, lastBefore(calls.indices(flow.to), at));
  if (lastBefore(calls.indices(flow.approvals), at) > since) return true;
  const open = lastBefore(calls.unknown(flow.approvals), at);
  return open > since ? new CannotTell(calls.why(flow.approvals, open)) : false;
}

/**
 * Whether a text is still found after secrets are masked. In normalized form, a key cannot be
 * recognized as one.
 */
const isOpen = (text: string, sent: unknown): boolean =>
  leavesOf(redact(sent).value)?.some((leaf) => carriedForm(leaf).includes(text)) ?? false;

/** The last item of a sorted list below a number. -1 if there is none. */
function lastBefore(list: readonly number[], end: number): number {
  for (let i = list.length - 1; i >= 0; i--) if (list[i]! < end) return list[i]!;
  return -1;
}
