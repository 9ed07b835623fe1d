import { UserError } from '@agentci/lib/problems';

/** A call that the recording lacks would be missing from its replay. */
export const reachedPast = (hosts: string): UserError =>
  new UserError(
    'CASSETTE_PAST',
    `the agent reached ${hosts} in a way that cannot be recorded, so a replay would lack those calls, and nothing was written`,
    {
      hint: 'Give the agent that address by the variable of its provider, such as OPENAI_BASE_URL; `agentci doctor --capture` shows what is seen.',
    },
  );

export const calledLate = (): UserError =>
  new UserError(
    'CASSETTE_LATE',
    'the agent called a model after its answer to this query, so the recording lacks that call, its replay could not pass, and nothing was written',
    { hint: 'Let the agent wait for all its calls before it answers.' },
  );

export const missMessage = (text: string): string => `cassette_miss: ${text}`;

/** The text of a result. A result has no field for a hint. */
export const wordsOf = ({ code, message, hint }: UserError): string =>
  `${code}: ${message}${hint === undefined ? '' : `. ${hint}`}`;
