import type { Layer } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';

/**
 * One way an agent breaks. An operator finds the places of a good recording where it could happen, and makes the recording
 * in which it did. One file each under `operators/`; see docs/guide/mutate.md.
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

/** One place that can break. */
export interface Site {
  /** What was done, as the subject of "… goes unnoticed". */
  readonly what: string;
  /** The changed recording. Made only if the budget reaches it, and equal each time. */
  readonly make: () => Trace;
  /** Checks that might notice, the best first. They are tried before one is advised. */
  readonly advice: readonly [Advice, ...Advice[]];
}

export interface Advice {
  readonly layer: Layer;
  /** The key of the check. */
  readonly key: string;
  /** What to write after the key; joined with what the query has there already. */
  readonly value: unknown;
  /**
   * Whether the check, as a query has it already, is about what was changed: the word, the tool, the argument. Limits are
   * about every change of what they count, so they need no say.
   */
  readonly isAbout?: (written: unknown) => boolean;
  /** The check goes under `turns`, for this turn of the conversation. */
  readonly turn?: number;
}

/** What an operator may know besides the recording itself. */
export interface World {
  readonly query: Query;
  /** Tools that other queries call or that a policy names, and this recording does not. */
  readonly otherTools: readonly string[];
  /** Arguments of such tools that a check speaks of, as `forbidden_calls` does. */
  readonly otherArguments?: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Answers of other queries that differ from this one's. */
  readonly otherAnswers: readonly string[];
  /** From 0 to 1, the same for the same seed, query and operator. */
  readonly random: () => number;
}

export const defineOperator = (operator: Operator): Operator => operator;

/** One of a list by chance; undefined of none. */
export const pick = <T>(items: readonly T[], random: () => number): T | undefined =>
  items[Math.floor(random() * items.length)];
