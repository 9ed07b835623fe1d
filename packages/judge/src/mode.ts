/** How rubric checks are answered: by calling a judge, from stored verdicts only, or not at all. */
export const JUDGE_MODES = ['live', 'recorded', 'off'] as const;
export type JudgeMode = (typeof JUDGE_MODES)[number];
