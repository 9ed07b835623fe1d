/** One part of one action's score, and the rule that gave it. */
export interface PartScore {
  readonly score: number;
  /** Stable name of the rule, e.g. `version_and_target`. */
  readonly rule: string;
  /** What in the action the rule saw. */
  readonly evidence?: string;
}
