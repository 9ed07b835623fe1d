import { isObject } from '@agentci/lib/data';
import { type Found, type MetricInput, measured, notMeasured } from '../metric.ts';
import { byModel, verdictIssue } from '../quality/model-method.ts';
import { CONVERSATION_FORM, conversationBlocks, type Said, TOO_LONG } from './said.ts';

const MAX_GOALS = 20;

interface Verdicts {
  readonly verdicts: readonly {
    readonly verdict: 0 | 1;
    readonly reason: string;
    readonly goal?: string;
  }[];
}

const MET =
  '1: by the end of the conversation the agent has done it, or has answered it in full. 0: it has not, or only promises to.';

/**
 * Share of the user's goals that were met. Without goals in the spec, the judge reads them from the
 * user's messages.
 */
export function judgeGoals(
  { judge }: Pick<MetricInput, 'judge'>,
  said: readonly Said[],
  goals: readonly string[] | undefined,
): Promise<Found> {
  const conversation = conversationBlocks(said);
  if (conversation === undefined) return Promise.resolve(notMeasured(TOO_LONG));
  return byModel(judge, {}, async (tasks) => {
    const { verdicts } = await tasks.do<Verdicts>(
      goals === undefined
        ? {
            id: 'metric.completeness',
            version: '2',
            instruction: `${CONVERSATION_FORM} List what the user wanted from the agent, each wish once, and decide for each. ${MET} Greetings and thanks are not wishes.`,
            format: `{"verdicts": [{"index": 1, "goal": short text, "reason": short text, "verdict": 0 or 1}, ...]}   at most ${MAX_GOALS}; none where the user wanted nothing`,
            blocks: conversation,
            check: ownGoalsIssue,
          }
        : {
            id: 'metric.completeness-goals',
            version: '2',
            instruction: `${CONVERSATION_FORM} Decide for each numbered goal of the user in the block "goals". ${MET}`,
            format: `{"verdicts": [{"index": 1, "reason": short text, "verdict": 0 or 1}, ...]}   exactly ${goals.length}, one for each goal`,
            blocks: [
              { name: 'goals', text: goals.map((goal, i) => `${i + 1}. ${goal}`).join('\n') },
              ...conversation,
            ],
            check: (reply) => verdictIssue(reply, goals.length),
          },
    );
    if (verdicts.length === 0) return notMeasured('the user wanted nothing');
    const told = verdicts.map(({ verdict, reason, goal }, i) => ({
      goal: goals?.[i] ?? goal,
      verdict,
      reason,
    }));
    const met = told.filter(({ verdict }) => verdict === 1).length;
    return measured(met / told.length, { goals: told.length, met, verdicts: told });
  });
}

function ownGoalsIssue(reply: unknown): string | undefined {
  const list = isObject(reply) ? reply.verdicts : undefined;
  if (!Array.isArray(list)) return '"verdicts" must be a list';
  if (list.length > MAX_GOALS) return `more than ${MAX_GOALS} goals`;
  const blank = list.findIndex(
    (item) => !isObject(item) || typeof item.goal !== 'string' || item.goal.trim() === '',
  );
  return blank < 0 ? verdictIssue(reply, list.length) : `verdict ${blank + 1} has no "goal"`;
}
