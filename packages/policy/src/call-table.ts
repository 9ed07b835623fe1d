import { NotCaptured } from '@agentci/lib/cel';
import { meantNames } from '@agentci/trace';
import { argumentsMatch, NO_ARGUMENTS } from './arguments-match.ts';
import type { PolicyCall } from './call.ts';
import { CannotTell } from './condition-type.ts';
import { type CallValue, callValue, factsOf, type RunFacts } from './run-facts.ts';
import { isByName, type Selector } from './selectors.ts';

/** Maximum number of earlier calls for an expression. With more, it cannot be decided. */
export const MAX_PREVIOUS = 10_000;

/**
 * Ordered calls, and the calls that each selector matches. The input of every rule, for finished
 * and unfinished runs.
 */
export abstract class CallLists {
  /** At least the names of each call. */
  abstract readonly calls: readonly Pick<PolicyCall, 'name' | 'rawName'>[];
  abstract readonly run: RunFacts;
  readonly #whys = new Map<Selector, Map<number, string>>();

  /** Indices of the matching calls, in order. */
  abstract indices(selector: Selector): readonly number[];

  /** Calls for which a selector cannot decide: data was not captured, or a pattern timed out. */
  abstract unknown(selector: Selector): readonly number[];

  /** A call in the form of expressions. */
  abstract value(index: number): CallValue;

  /** The calls before an index. */
  previous(index: number): readonly CallValue[] {
    if (index > MAX_PREVIOUS)
      throw new NotCaptured(`more than ${MAX_PREVIOUS} calls came before call ${index + 1}`);
    return this.values(index);
  }

  protected abstract values(end: number): readonly CallValue[];

  /** Caches a value for these calls by key. */
  memo<T>(key: object, make: () => T): T {
    if (!this.#memos.has(key)) this.#memos.set(key, make());
    return this.#memos.get(key) as T;
  }
  readonly #memos = new Map<object, unknown>();

  /** The reason why a selector cannot decide a call. */
  why(selector: Selector, index: number): string {
    return this.#whys.get(selector)?.get(index) ?? NO_ARGUMENTS;
  }

  /**
   * Whether a selector that matches the call's name matches the call. Undefined if it cannot be
   * decided.
   */
  protected meets(selector: Selector, call: PolicyCall, index: number): boolean | undefined {
    const doubts: string[] = [];
    const holds = (found: boolean | CannotTell): boolean => {
      if (found instanceof CannotTell) doubts.push(found.why);
      return found !== false;
    };
    if (selector.args !== undefined && !holds(argumentsMatch(selector, call))) return false;
    for (const { test } of selector.conditions ?? [])
      if (!holds(test(this, index, selector.isWanted === true))) return false;
    const why = doubts.at(-1);
    if (why === undefined) return true;
    const whys = this.#whys.get(selector) ?? new Map<number, string>();
    whys.set(index, why);
    this.#whys.set(selector, whys);
    return undefined;
  }

  /** The indices of all calls. */
  get all(): readonly number[] {
    return this.calls.map((_, i) => i);
  }

  /** Whether a selector matches this call. */
  isMeant(selector: Selector, index: number): boolean {
    return isIn(this.indices(selector), index);
  }

  /** Calls that any of the selectors matches, in order. */
  anyOf(selectors: readonly Selector[]): readonly number[] {
    const lists = selectors
      .map((selector) => this.indices(selector))
      .filter((list) => list.length > 0);
    return lists.length === 1 ? lists[0]! : this.marked(lists, 1);
  }

  /** Calls that none of the selectors matches, in order. */
  noneOf(selectors: readonly Selector[]): readonly number[] {
    return this.marked(
      selectors.map((selector) => this.indices(selector)),
      0,
    );
  }

  /** Marking and one pass cost less than sorting, and count a call in two lists once. */
  protected marked(lists: readonly (readonly number[])[], wanted: 0 | 1): number[] {
    const marks = new Uint8Array(this.calls.length);
    for (const list of lists) for (const i of list) marks[i] = 1;
    const found: number[] = [];
    for (let i = 0; i < marks.length; i++) if (marks[i] === wanted) found.push(i);
    return found;
  }
}

/**
 * The calls of one trace, indexed by tool, so that fifty rules do not scan a thousand calls fifty
 * times.
 */
export class CallTable extends CallLists {
  readonly calls: readonly PolicyCall[];
  readonly run: RunFacts;
  readonly #byName = new Map<string, number[]>();
  readonly #found = new Map<Selector, readonly number[]>();
  readonly #unknown = new Map<Selector, number[]>();
  #all: readonly number[] | undefined;
  #values: readonly CallValue[] | undefined;

  constructor(calls: readonly PolicyCall[], run: RunFacts = {}) {
    super();
    this.calls = calls;
    this.run = run;
    for (let i = 0; i < calls.length; i++) {
      for (const name of meantNames(calls[i]!)) addTo(this.#byName, name, i);
    }
  }

  override get all(): readonly number[] {
    this.#all ??= this.calls.map((_, i) => i);
    return this.#all;
  }

  value(index: number): CallValue {
    this.#values ??= this.calls.map((call, i) => {
      const facts = factsOf(call, this.run);
      return callValue(call.name, i + 1, () => facts);
    });
    return this.#values[index]!;
  }

  protected values(end: number): readonly CallValue[] {
    this.value(0);
    return this.#values!.slice(0, end);
  }

  indices(selector: Selector): readonly number[] {
    let found = this.#found.get(selector);
    if (found === undefined) {
      found = this.#find(selector);
      this.#found.set(selector, found);
    }
    return found;
  }

  unknown(selector: Selector): readonly number[] {
    this.indices(selector);
    return this.#unknown.get(selector) ?? [];
  }

  #find(selector: Selector): readonly number[] {
    const named =
      selector.exact === undefined
        ? this.#union(selector)
        : (this.#byName.get(selector.exact) ?? []);
    if (isByName(selector)) return named;
    return named.filter((i) => {
      const isMatch = this.meets(selector, this.calls[i]!, i);
      if (isMatch === undefined) addTo(this.#unknown, selector, i);
      return isMatch === true;
    });
  }

  #union(selector: Selector): readonly number[] {
    const lists: number[][] = [];
    for (const [name, list] of this.#byName) if (selector.matchesName(name)) lists.push(list);
    if (lists.length === 1) return lists[0]!;
    return lists.length === this.#byName.size ? this.all : this.marked(lists, 1);
  }
}

export function addTo<K>(lists: Map<K, number[]>, key: K, index: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [index]);
  else list.push(index);
}

/** Searches a sorted list. Checks the end first, because the index is usually there. */
function isIn(list: readonly number[], index: number): boolean {
  let low = 0;
  let high = list.length - 1;
  if (high < 0 || index > list[high]!) return false;
  if (index === list[high]) return true;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = list[middle]!;
    if (found === index) return true;
    if (found < index) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
