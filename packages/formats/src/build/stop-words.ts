import { textOf } from './answer.ts';
import type { Turn } from './draft.ts';

/** Final messages of the simulated users of tau-bench and tau2-bench, which need no answer. */
const STOP = /###(?:STOP|TRANSFER|OUT-OF-SCOPE)###/;

/** Messages after the last reply, without the final stop message. */
export const withoutStops = (turns: readonly Turn[]): Turn[] =>
  turns.filter((turn) => turn.role !== 'user' || !STOP.test(textOf(turn) ?? ''));
