import type { ExplainedCause, PolicyViolation } from '@agentci/results';

type Place = Pick<ExplainedCause, 'policy_line' | 'policy_column' | 'policy_file'>;

/** The cause of a block or warning, from a violation. */
export function violationCause(violation: PolicyViolation): ExplainedCause {
  const { argument, code, message, constraint } = violation;
  const rule = code ?? (argument === null ? constraint : `argument ${argument}`);
  return { rule, reason: message, ...placeIn(violation) };
}

/** The cause of an undecided call. */
export const undecidedCause = (undecided: Place & { readonly reason: string }): ExplainedCause => ({
  rule: 'arguments',
  reason: `could not tell: ${undecided.reason}`,
  ...placeIn(undecided),
});

export const placeIn = ({ policy_line, policy_column, policy_file }: Place): Place => ({
  policy_line,
  policy_column,
  policy_file,
});
