import type { Trace } from '@agentci/trace';

type Outcome = NonNullable<Trace['outcomes']>[number];

const SUCCESS_NAME = /^(?:reward|success|passed|resolved|utility|is_?correct|correct)$/i;

/** An outcome between 0 and 1 of which 1 is success: by its name, or since every scorer of Inspect is one. */
export const isSuccess = ({ name, value, by }: Outcome): boolean =>
  (SUCCESS_NAME.test(name) || by === 'inspect-ai') &&
  (typeof value === 'boolean' || (typeof value === 'number' && value >= 0 && value <= 1));

/** A grade of Inspect: correct, incorrect, partly correct, no answer. */
export const isGrade = ({ value, by }: Outcome): boolean =>
  by === 'inspect-ai' && (value === 'C' || value === 'I' || value === 'P' || value === 'N');

/** Whether a run carries an outcome that is less than success. A part of a reward is less. */
export const fellShort = ({ outcomes = [] }: Trace): boolean =>
  outcomes.some((one) =>
    isGrade(one) ? one.value !== 'C' : isSuccess(one) && Number(one.value) < 1,
  );
