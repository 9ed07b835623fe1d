import type { Found, MetricInput } from '../metric.ts';
import { measured, notMeasured } from '../metric.ts';
import { byModel, verdictIssue } from '../quality/model-method.ts';
import { CONVERSATION_FORM, conversationBlocks, type Said, TOO_LONG } from './said.ts';

interface Verdicts {
  readonly verdicts: readonly { readonly verdict: 0 | 1; readonly reason: string }[];
}

/** A question to the judge about every turn. */
export interface TurnQuestion {
  readonly id: string;
  /** The criterion for a score of 1 or 0. */
  readonly question: string;
  /** Texts that the question mentions, next to the conversation. */
  readonly blocks?: readonly { readonly name: string; readonly text: string }[];
  /** Turns that get a verdict. Default: all. The judge reads the others too. */
  readonly about?: readonly Said[];
}

/** Share of turns that a judge scores 1. It must give a verdict for each turn, or none counts. */
export function judgeTurns(
  { judge }: Pick<MetricInput, 'judge'>,
  said: readonly Said[],
  { id, question, blocks = [], about = said }: TurnQuestion,
): Promise<Found> {
  const conversation = conversationBlocks(said);
  if (conversation === undefined) return Promise.resolve(notMeasured(TOO_LONG));
  return byModel(judge, {}, async (tasks) => {
    const numbers = about.map(({ turn }) => turn).join(', ');
    const { verdicts } = await tasks.do<Verdicts>({
      id,
      version: '2',
      instruction: `${CONVERSATION_FORM} Decide for each of these turns, in this order: ${numbers}. ${question} Look only at what the agent says in that turn; earlier turns are what it could know.`,
      format: `{"verdicts": [{"index": 1, "reason": short text, "verdict": 0 or 1}, ...]}   exactly ${about.length}, one for each turn named, index counting from 1`,
      blocks: [...blocks, ...conversation],
      check: (reply) => verdictIssue(reply, about.length),
    });
    const turns = verdicts.map(({ verdict, reason }, i) => ({
      turn: about[i]!.turn,
      verdict,
      reason,
    }));
    const held = turns.filter(({ verdict }) => verdict === 1).length;
    return measured(held / turns.length, { turns: turns.length, held, verdicts: turns });
  });
}
