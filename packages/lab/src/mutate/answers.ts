import type { Query } from '@agentci/spec';
import type { Trace, Turn } from '@agentci/trace';
import { answerOfTurn, finalText } from '@agentci/trace';
import { withAnswer, withAnswerOfTurn } from './edit-trace.ts';
import type { Advice, Site } from './operator.ts';

/** A wrong answer, and the checks that would notice it. */
export interface OtherAnswer {
  readonly what: string;
  readonly text: string;
  readonly advice: readonly [Advice, ...Advice[]];
}

type Change = (text: string) => readonly OtherAnswer[];

/**
 * Places where an answer can change: each turn of a conversation has one. Empty without an answer.
 */
export function answerSites(trace: Trace, query: Query, change: Change): Site[] {
  const turns = trace.conversation?.turns ?? [];
  const ofTurns = turns.flatMap((turn) => turnSites(trace, query, turn, change));
  const isLastKnown = turns.length > 0 && answerOfTurn(turns.at(-1)!) !== undefined;
  return isLastKnown ? ofTurns : [...ofTurns, ...finalSites(trace, change)];
}

function turnSites(trace: Trace, query: Query, turn: Turn, change: Change): Site[] {
  const { turn: number } = turn;
  const answer = answerOfTurn(turn);
  if (answer === undefined || answer.trim() === '') return [];
  const turns = trace.conversation!.turns;
  // The last answer is that of the whole conversation. If the spec checks its turn, so does the
  // advice.
  const isOfTurn =
    turns.at(-1)!.turn !== number ||
    query.turns?.some((one) => one.turn === number && one.correctness !== undefined);
  const placed = (advice: Advice): Advice => (isOfTurn ? { ...advice, turn: number } : advice);
  return change(answer).map(({ what, text, advice: [first, ...others] }) => ({
    what: turns.length === 1 ? what : `${what} in turn ${number}`,
    make: () => withAnswerOfTurn(trace, number, { before: answer, text }),
    advice: [placed(first), ...others.map(placed)],
  }));
}

function finalSites(trace: Trace, change: Change): Site[] {
  const answer = finalText(trace);
  if (answer === undefined || answer.trim() === '') return [];
  return change(answer).map(({ what, text, advice }) => ({
    what,
    make: () => withAnswer(trace, { before: answer, text }),
    advice,
  }));
}
