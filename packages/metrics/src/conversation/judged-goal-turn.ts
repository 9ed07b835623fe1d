import { isObject } from '@agentci/lib/data';
import { type Found, type MetricInput, measured, missed, notMeasured } from '../metric.ts';
import { byModel } from '../quality/model-method.ts';
import { CONVERSATION_FORM, conversationBlocks, type Said, TOO_LONG } from './said.ts';

/** The first turn after which a judge considers the goal reached. */
export function judgeGoalTurn(
  { judge }: Pick<MetricInput, 'judge'>,
  said: readonly Said[],
  goal: string,
): Promise<Found> {
  const conversation = conversationBlocks(said);
  if (conversation === undefined) return Promise.resolve(notMeasured(TOO_LONG));
  return byModel(judge, {}, async (tasks) => {
    const { turn, reason } = await tasks.do<{ turn: number; reason: string }>({
      id: 'metric.goal-turn',
      version: '2',
      instruction: `${CONVERSATION_FORM} Give the number of the first turn in which the agent has done what the block "goal" asks for. A promise is not yet done. 0: it is not done by the end.`,
      format: `{"reason": short text, "turn": 0 to ${said.length}}`,
      blocks: [{ name: 'goal', text: goal }, ...conversation],
      check: (reply) =>
        isObject(reply) &&
        typeof reply.reason === 'string' &&
        (reply.turn === 0 || said.some(({ turn }) => turn === reply.turn))
          ? undefined
          : '"turn" must be 0 or the number of a turn, and "reason" a text',
    });
    return turn === 0
      ? missed(`the goal was not reached: ${reason}`)
      : measured(turn, { verdict: reason });
  });
}
