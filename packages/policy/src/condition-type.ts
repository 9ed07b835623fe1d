import type { PolicyCall } from './call.ts';
import type { CallValue, RunFacts } from './run-facts.ts';

/** What a condition can look at: the calls in order, and what else is known of the run. */
export interface CallsInSight {
  readonly calls: readonly Pick<PolicyCall, 'name' | 'rawName'>[];
  readonly run: RunFacts;
  readonly value: (index: number) => CallValue;
  readonly previous: (index: number) => readonly CallValue[];
}

/** Why it cannot be told whether a call meets a condition. */
export class CannotTell {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Something a call must meet to be meant, beside the name of its tool. */
export interface Condition {
  /** As messages print it after the tool: `when args.amount > 100`. */
  readonly label: string;
  /** It looks at what the call gave back, so it is decided when that has come. */
  readonly needsResult: boolean;
  /** It looks at results, of this call or of earlier ones. */
  readonly looksAtResults: boolean;
  /** It looks at the definitions of tools. */
  readonly looksAtTools?: boolean;
  /** `isWanted`: the rule needs such a call, so where a result has several forms it must be one in each of them. */
  readonly test: (calls: CallsInSight, at: number, isWanted?: boolean) => boolean | CannotTell;
}
