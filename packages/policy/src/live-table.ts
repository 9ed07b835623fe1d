import { defined } from '@agentci/lib/data';
import type { CallFacts } from '@agentci/trace';
import { meantNames } from '@agentci/trace';
import type { PolicyCall } from './call.ts';
import { addTo, CallLists, MAX_PREVIOUS } from './call-table.ts';
import { type Aside, type CallValue, callValue, factsOf, type RunFacts } from './run-facts.ts';
import type { Selector } from './selectors.ts';

/** Maximum number of cached names. A client that invents names must not fill the memory. */
const MAX_NAMES = 10_000;

/** The outcome of a call. */
export type CallOutcome = Pick<PolicyCall, 'result' | 'error' | 'latency_ms' | 'said' | 'forms'>;

interface Kept {
  readonly call: PolicyCall;
  facts: CallFacts & Aside;
  readonly value: CallValue;
}

/**
 * The calls of a run in progress. Adding a call costs only the matching selectors. The last call
 * can be removed, because a refused call never happened. Conditions on results are decided after
 * the call.
 */
export class LiveTable extends CallLists {
  readonly calls: Pick<PolicyCall, 'name' | 'rawName'>[] = [];
  run: RunFacts = {};
  readonly #selectors: readonly Selector[];
  readonly #hasConditions: boolean;
  readonly #byName = new Map<string, readonly Selector[]>();
  readonly #found = new Map<Selector, number[]>();
  readonly #unknown = new Map<Selector, number[]>();
  /** Arguments and results, kept only if a rule may read them again. */
  readonly #kept = new Map<number, Kept>();

  /** `selectors`: all selectors of later queries. */
  constructor(selectors: readonly Selector[]) {
    super();
    this.#selectors = selectors;
    this.#hasConditions = selectors.some(({ conditions }) => conditions !== undefined);
  }

  indices(selector: Selector): readonly number[] {
    return this.#found.get(selector) ?? [];
  }

  unknown(selector: Selector): readonly number[] {
    return this.#unknown.get(selector) ?? [];
  }

  value(index: number): CallValue {
    return (
      this.#kept.get(index)?.value ??
      callValue(this.calls[index]!.name, index + 1, () => this.calls[index]! as CallFacts)
    );
  }

  protected values(end: number): readonly CallValue[] {
    return Array.from({ length: end }, (_, i) => this.value(i));
  }

  /** Adds a call and returns its index. */
  add(call: PolicyCall): number {
    const index = this.calls.length;
    const { name, rawName } = call;
    this.calls.push(rawName === undefined ? { name } : { name, rawName });
    if (this.#hasConditions) this.#keep(call, index);
    for (const selector of this.#meaning(call))
      if (!isLate(selector)) this.#enter(selector, this.meets(selector, call, index), index);
    return index;
  }

  /** Called after a call. Decides the conditions on its result. */
  settle(index: number, outcome: CallOutcome): void {
    const kept = this.#kept.get(index);
    if (kept === undefined) return;
    kept.facts = factsOf({ ...kept.call, ...defined(outcome) }, this.run);
    for (const selector of this.#meaning(kept.call))
      if (isLate(selector)) this.#enter(selector, this.meets(selector, kept.call, index), index);
  }

  /** Removes the last call. */
  removeLast(): void {
    this.calls.pop();
    const index = this.calls.length;
    this.#kept.delete(index);
    for (const lists of [this.#found, this.#unknown])
      for (const list of lists.values()) if (list.at(-1) === index) list.pop();
  }

  #keep(call: PolicyCall, index: number): void {
    const kept: Kept = {
      call,
      facts: factsOf(call, this.run),
      value: callValue(call.name, index + 1, () => kept.facts),
    };
    this.#kept.set(index, kept);
    this.#kept.delete(index - MAX_PREVIOUS - 1);
  }

  /** Results may arrive in a different order than the calls. */
  #enter(selector: Selector, isMeant: boolean | undefined, index: number): void {
    if (isMeant === false) return;
    const lists = isMeant === undefined ? this.#unknown : this.#found;
    const list = lists.get(selector);
    if (list === undefined || list.at(-1)! < index) addTo(lists, selector, index);
    else {
      list.push(index);
      list.sort((a, b) => a - b);
    }
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

const isLate = ({ conditions }: Selector): boolean =>
  conditions?.some(({ needsResult }) => needsResult) === true;
