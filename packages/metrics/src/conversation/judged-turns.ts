import type { Found, MetricInput } from '../metric.ts';
import { measured, notMeasured } from '../metric.ts';
import { byModel, verdictIssue } from '../quality/model-method.ts';
import { CONVERSATION_FORM, conversationBlocks, type Said, TOO_LONG } from './said.ts';

interface Verdicts {
  readonly verdicts: readonly { readonly verdict: 0 | 1; readonly reason: string }[];
}

/** What a judge is asked about every turn. */
export interface TurnQuestion {
  readonly id: string;
  /** What makes the answer of a turn a 1 and what a 0. */
  readonly question: string;
  /** Texts the question speaks of, beside the conversation. */
  readonly blocks?: readonly { readonly name: string; readonly text: string }[];
  /** The turns that get a verdict; all of them when not given. The judge reads the others too. */
  readonly about?: readonly Said[];
}

/** The share of turns that a judge gives a 1. One verdict for each turn, or none at all. */
export function judgeTurns(
  { judge }: Pick<MetricInput, 'judge'>,
  said: readonly Said[],
  { id, question, blocks = [], about = said }: TurnQuestion,
): Promise<Found> {
  const conversation = conversationBlocks(said);
  if (conversation === undefined) return Promise.resolve(notMeasured(TOO_LONG));
  return byModel(judge, {}, async (desk) => {
    const numbers = about.map(({ turn }) => turn).join(', ');
    const { verdicts } = await desk.do<Verdicts>({
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
