import type { Trace } from '@agentci/trace';

type Outcome = NonNullable<Trace['outcomes']>[number];

const SUCCESS_NAME = /^(?:reward|success|passed|resolved|utility|is_?correct|correct)$/i;

/**
 * An outcome between 0 and 1 where 1 means success: by name, or because all Inspect scorers work
 * this way.
 */
export const isSuccess = ({ name, value, by }: Outcome): boolean =>
  (SUCCESS_NAME.test(name) || by === 'inspect-ai') &&
  (typeof value === 'boolean' || (typeof value === 'number' && value >= 0 && value <= 1));

/** An Inspect grade: correct, incorrect, partly correct, no answer. */
export const isGrade = ({ value, by }: Outcome): boolean =>
  by === 'inspect-ai' && (value === 'C' || value === 'I' || value === 'P' || value === 'N');

/** Whether a run has an outcome below full success, such as a partial reward. */
export const fellShort = ({ outcomes = [] }: Trace): boolean =>
  outcomes.some((one) =>
    isGrade(one) ? one.value !== 'C' : isSuccess(one) && Number(one.value) < 1,
  );
