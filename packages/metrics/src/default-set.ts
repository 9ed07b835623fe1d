/** The metrics used by default, and by the word `default` in a spec. */
export const DEFAULT_METRICS: readonly string[] = [
  'faithfulness',
  'answer_correctness',
  'tool_success',
  'cost',
  'token_usage',
];
