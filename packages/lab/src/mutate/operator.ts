import type { Layer } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';

/**
 * A typical fault of an agent. An operator finds possible places in a good recording and creates
 * the faulty recording. Each has a file in `operators/`. See docs/guide/mutate.md.
 */
export interface Operator {
  /** `drop-call`. */
  readonly name: string;
  /** The layer that should notice. */
  readonly layer: Layer;
  /** One line of documentation. */
  readonly summary: string;
  readonly sites: (trace: Trace, world: World) => readonly Site[];
}

/** A place for a change. */
export interface Site {
  /** The change, as the subject of "… goes unnoticed". */
  readonly what: string;
  /** Creates the changed recording. Called only within the budget, and deterministic. */
  readonly make: () => Trace;
  /** Checks that might notice, best first. They are tried before one is advised. */
  readonly advice: readonly [Advice, ...Advice[]];
}

export interface Advice {
  readonly layer: Layer;
  /** The key of the check. */
  readonly key: string;
  /** The value for the key, merged with the query's existing one. */
  readonly value: unknown;
  /**
   * Whether the query's existing check covers the change: the word, the tool, the argument. Limits
   * cover every change of their count and need no function.
   */
  readonly isAbout?: (written: unknown) => boolean;
  /** Puts the check under `turns`, for this turn of the conversation. */
  readonly turn?: number;
}

/** Input of an operator in addition to the recording. */
export interface World {
  readonly query: Query;
  /** Tools that other queries call or a policy names, but not this recording. */
  readonly otherTools: readonly string[];
  /** Arguments of such tools from checks such as `forbidden_calls`. */
  readonly otherArguments?: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Different answers of other queries. */
  readonly otherAnswers: readonly string[];
  /** From 0 to 1. Deterministic by seed, query and operator. */
  readonly random: () => number;
}

export const defineOperator = (operator: Operator): Operator => operator;

/** A random item of a list. Undefined if empty. */
export const pick = <T>(items: readonly T[], random: () => number): T | undefined =>
  items[Math.floor(random() * items.length)];
