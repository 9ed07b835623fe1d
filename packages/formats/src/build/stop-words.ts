import { textOf } from './answer.ts';
import type { Turn } from './draft.ts';

/** What the simulated users of tau-bench and tau2-bench end with. It says goodbye and asks for no answer. */
const STOP = /###(?:STOP|TRANSFER|OUT-OF-SCOPE)###/;

/** The messages after the last reply, without the one that ends the conversation. */
export const withoutStops = (turns: readonly Turn[]): Turn[] =>
  turns.filter((turn) => turn.role !== 'user' || !STOP.test(textOf(turn) ?? ''));
