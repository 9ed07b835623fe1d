import type { PolicyCall } from './call.ts';
import type { CallValue, RunFacts } from './run-facts.ts';

/** Input of a condition: the calls in order, and other facts about the run. */
export interface CallsInSight {
  readonly calls: readonly Pick<PolicyCall, 'name' | 'rawName'>[];
  readonly run: RunFacts;
  readonly value: (index: number) => CallValue;
  readonly previous: (index: number) => readonly CallValue[];
}

/** The reason why a condition is undecided for a call. */
export class CannotTell {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** A condition on a call in addition to the name of its tool. */
export interface Condition {
  /** Printed after the tool: `when args.amount > 100`. */
  readonly label: string;
  /** Reads the result of the call, so it is decided after the call. */
  readonly needsResult: boolean;
  /** Reads results of this or earlier calls. */
  readonly looksAtResults: boolean;
  /** Reads the definitions of tools. */
  readonly looksAtTools?: boolean;
  /** `isWanted`: the rule requires such a call, so all forms of a result must match. */
  readonly test: (calls: CallsInSight, at: number, isWanted?: boolean) => boolean | CannotTell;
}
