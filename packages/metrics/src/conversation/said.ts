import type { Turn } from '@agentci/trace';
import { answerOfTurn, joinLines, TRANSCRIPT_FORM, turnLine, turnsOf } from '@agentci/trace';
import type { MetricInput } from '../metric.ts';

/** A turn with a known answer. */
export interface Said {
  readonly turn: number;
  readonly user: string;
  readonly answer: string;
}

/**
 * All turns with their answers, or why they are unknown. A turn without an answer could be the one
 * that matters.
 */
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
  if ((answerOfTurn(turn) ?? '').trim() === '')
    return `the answer of turn ${turn.turn} was not captured`;
  return undefined;
}

const MAX_BLOCK = 20_000;
const MAX_BLOCKS = 50;

/**
 * The conversation for a judge, numbered so that verdicts can refer to turns, in blocks that are
 * never cut. Undefined if it is too long, because a judge cannot score turns that it does not see.
 */
export function conversationBlocks(
  said: readonly Said[],
): readonly { name: string; text: string }[] | undefined {
  const lines = said.map(({ turn, user, answer }) => turnLine({ turn, user, agent: answer }));
  if (lines.some((line) => line.length > MAX_BLOCK)) return undefined;
  const texts = joinLines(lines, MAX_BLOCK);
  return texts.length > MAX_BLOCKS
    ? undefined
    : texts.map((text) => ({ name: 'conversation', text }));
}

/** Tells the judge how to read these blocks. */
export const CONVERSATION_FORM = `The blocks "conversation" hold a conversation between a user and an agent, ${TRANSCRIPT_FORM}`;

export const TOO_LONG = `the conversation is too long for a judge (a turn over ${MAX_BLOCK} characters, or ${MAX_BLOCK * MAX_BLOCKS} in all)`;
