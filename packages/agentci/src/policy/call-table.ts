import { isObject } from '../kit/object.ts';
import { type Regex, RegexTimeout } from '../kit/regex.ts';
import { meantNames } from '../trace/tool-name.ts';
import type { PolicyCall } from './call.ts';
import type { Selector } from './selectors.ts';

/** Calls in order, and which of them a selector means: what every rule is decided on, whether a run is over or not. */
export abstract class CallLists {
  /** Of each call its name, at least. */
  abstract readonly calls: readonly { readonly name: string }[];

  /** Indices of the calls a selector means, in order. */
  abstract indices(selector: Selector): readonly number[];

  /** The calls a selector cannot tell about: their arguments were not captured, or its pattern ran out of time. */
  abstract unknown(selector: Selector): readonly number[];

  /** Every call's index. */
  get all(): readonly number[] {
    return this.calls.map((_, i) => i);
  }

  /** Whether a selector means this call. */
  isMeant(selector: Selector, index: number): boolean {
    return isIn(this.indices(selector), index);
  }

  /** The calls any of the selectors means, in order. */
  anyOf(selectors: readonly Selector[]): readonly number[] {
    const lists = selectors.map((selector) => this.indices(selector)).filter((list) => list.length > 0);
    return lists.length === 1 ? lists[0]! : this.marked(lists, 1);
  }

  /** The calls none of the selectors means, in order. */
  noneOf(selectors: readonly Selector[]): readonly number[] {
    return this.marked(
      selectors.map((selector) => this.indices(selector)),
      0,
    );
  }

  /** Marking and walking once costs less than sorting, and a call that is in two lists counts once. */
  protected marked(lists: readonly (readonly number[])[], wanted: 0 | 1): number[] {
    const marks = new Uint8Array(this.calls.length);
    for (const list of lists) for (const i of list) marks[i] = 1;
    const found: number[] = [];
    for (let i = 0; i < marks.length; i++) if (marks[i] === wanted) found.push(i);
    return found;
  }
}

/** The calls of one trace, by tool, so that fifty rules do not walk a thousand calls fifty times. */
export class CallTable extends CallLists {
  readonly calls: readonly PolicyCall[];
  readonly #byName = new Map<string, number[]>();
  readonly #found = new Map<Selector, readonly number[]>();
  readonly #unknown = new Map<Selector, number[]>();
  #all: readonly number[] | undefined;

  constructor(calls: readonly PolicyCall[]) {
    super();
    this.calls = calls;
    for (let i = 0; i < calls.length; i++) {
      for (const name of meantNames(calls[i]!)) addTo(this.#byName, name, i);
    }
  }

  override get all(): readonly number[] {
    this.#all ??= this.calls.map((_, i) => i);
    return this.#all;
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
    const named = selector.exact === undefined ? this.#union(selector) : (this.#byName.get(selector.exact) ?? []);
    if (selector.args === undefined) return named;
    return named.filter((i) => {
      const isMatch = argumentsMatch(selector, this.calls[i]!);
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

/** Whether the arguments of a call are those a selector means; undefined where that cannot be told. */
export function argumentsMatch(selector: Selector, { args: given, argsRaw }: PolicyCall): boolean | undefined {
  // Text that is not JSON has no arguments to look at; arguments that were not recorded may be anything.
  if (given === undefined) return argsRaw === undefined ? undefined : false;
  if (!isObject(given)) return false;
  try {
    return selector.args!.every(({ name, regex }) => Object.hasOwn(given, name) && isFound(regex, given[name]));
  } catch (error) {
    if (!(error instanceof RegexTimeout)) throw error;
    return undefined;
  }
}

const isFound = (regex: Regex, value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') && regex.test(String(value));

export function addTo<K>(lists: Map<K, number[]>, key: K, index: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [index]);
  else list.push(index);
}

/** In a sorted list; what is looked for is mostly near its end. */
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
