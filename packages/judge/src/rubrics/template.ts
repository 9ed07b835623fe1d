/** A ready rubric. Its version changes with its wording, so that stored verdicts say what was asked. */
export interface RubricTemplate {
  readonly id: string;
  readonly version: string;
  readonly rule: string;
  readonly scale: readonly string[];
  readonly threshold: number;
  /** Cannot be judged without texts to compare the answer with. */
  readonly needsContext: boolean;
  /** What else it cannot be judged without: the tool calls of the run, the expected answer, a rule of the user's own beside it. */
  readonly needs?: readonly RubricNeed[];
}

export type RubricNeed = 'steps' | 'expected' | 'rule';
