import type { Turn } from '../../trace/model.ts';
import { answerOfTurn, turnsOf } from '../../trace/turns.ts';
import type { MetricInput } from '../metric.ts';

/** One turn whose answer is known. */
export interface Said {
  readonly turn: number;
  readonly user: string;
  readonly answer: string;
}

/** What was said turn by turn, or why that is not known. A turn without its answer could be the one that matters. */
export function saidIn({ trace }: Pick<MetricInput, 'trace'>): readonly Said[] | string {
  if (!trace) return 'no trace';
  const said: Said[] = [];
  for (const turn of turnsOf(trace)) {
    const why = gapIn(turn);
    if (why !== undefined) return why;
    said.push({ turn: turn.turn, user: turn.message, answer: answerOfTurn(turn)! });
  }
  return said.length === 0 ? 'no turns captured' : said;
}

function gapIn(turn: Turn): string | undefined {
  if (turn.message.trim() === '') return `the user's message of turn ${turn.turn} was not captured`;
  if ((answerOfTurn(turn) ?? '').trim() === '') return `the answer of turn ${turn.turn} was not captured`;
  return undefined;
}

/** The conversation for a judge, with the numbers its verdicts refer to. */
export const numbered = (said: readonly Said[]): string =>
  said.map(({ turn, user, answer }) => `Turn ${turn}\nUser: ${user}\nAgent: ${answer}`).join('\n\n');
