import { UserError } from '@agentci/lib/problems';

/** What a recording lacks its replay would miss. */
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

/** As the message of a result, which has no place for a hint. */
export const wordsOf = ({ code, message, hint }: UserError): string =>
  `${code}: ${message}${hint === undefined ? '' : `. ${hint}`}`;
