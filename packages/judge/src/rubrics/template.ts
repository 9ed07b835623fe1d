/**
 * A predefined rubric. Its version changes with its wording, so that stored verdicts identify the
 * question.
 */
export interface RubricTemplate {
  readonly id: string;
  readonly version: string;
  readonly rule: string;
  readonly scale: readonly string[];
  readonly threshold: number;
  /** Requires texts to compare the answer with. */
  readonly needsContext: boolean;
  /** Other required inputs: tool calls, the expected answer, a rule of the user. */
  readonly needs?: readonly RubricNeed[];
}

export type RubricNeed = 'steps' | 'expected' | 'rule';
