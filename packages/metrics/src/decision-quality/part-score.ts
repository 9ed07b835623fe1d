/** One part of an action's score, and the rule behind it. */
export interface PartScore {
  readonly score: number;
  /** Stable name of the rule, such as `version_and_target`. */
  readonly rule: string;
  /** The words in the action that matched the rule. */
  readonly evidence?: string;
}
