import { meantNames } from '../trace/tool-name.ts';
import type { PolicyCall } from './call.ts';
import { addTo, argumentsMatch, CallLists } from './call-table.ts';
import type { Selector } from './selectors.ts';

/** Names whose selectors are remembered; a client that makes names up must not fill the memory. */
const MAX_NAMES = 10_000;

/**
 * The calls of a run that is under way. A call is added at the price of the selectors that mean it, whatever came before,
 * and the last one can be taken back: a call that was refused never happened.
 */
export class LiveTable extends CallLists {
  readonly calls: { readonly name: string }[] = [];
  readonly #selectors: readonly Selector[];
  readonly #byName = new Map<string, readonly Selector[]>();
  readonly #found = new Map<Selector, number[]>();
  readonly #unknown = new Map<Selector, number[]>();

  /** `selectors`: all that will be asked about. */
  constructor(selectors: readonly Selector[]) {
    super();
    this.#selectors = selectors;
  }

  indices(selector: Selector): readonly number[] {
    return this.#found.get(selector) ?? [];
  }

  unknown(selector: Selector): readonly number[] {
    return this.#unknown.get(selector) ?? [];
  }

  /** Adds a call and gives its index. Arguments are looked at now and not kept. */
  add(call: PolicyCall): number {
    const index = this.calls.length;
    this.calls.push({ name: call.name });
    for (const selector of this.#meaning(call)) {
      const isMatch = selector.args === undefined ? true : argumentsMatch(selector, call);
      if (isMatch !== false) addTo(isMatch === undefined ? this.#unknown : this.#found, selector, index);
    }
    return index;
  }

  /** Takes the last call back. */
  removeLast(): void {
    this.calls.pop();
    const index = this.calls.length;
    for (const lists of [this.#found, this.#unknown])
      for (const list of lists.values()) if (list.at(-1) === index) list.pop();
  }

  #meaning(call: PolicyCall): readonly Selector[] {
    const key = JSON.stringify([call.name, call.rawName]);
    let known = this.#byName.get(key);
    if (known === undefined) {
      if (this.#byName.size >= MAX_NAMES) this.#byName.clear();
      const names = meantNames(call);
      known = this.#selectors.filter(({ matchesName }) => names.some(matchesName));
      this.#byName.set(key, known);
    }
    return known;
  }
}
