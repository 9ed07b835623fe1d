/** A ready rubric. Its version changes with its wording, so that stored verdicts say what was asked. */
export interface RubricTemplate {
  readonly id: string;
  readonly version: string;
  readonly rule: string;
  readonly scale: readonly string[];
  readonly threshold: number;
  /** Cannot be judged without texts to compare the answer with. */
  readonly needsContext: boolean;
}
