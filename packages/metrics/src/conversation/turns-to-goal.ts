import { compileGlob } from '@agentci/lib/regex';
import { v } from '@agentci/lib/values';
import type { Trace } from '@agentci/trace';
import { toolCalls, turnsOf } from '@agentci/trace';
import { caseOf } from '../input.ts';
import { defineMetric, type Found, measured, missed, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { type Said, saidIn } from './said.ts';

const text = v.string().regex(/\S/);
const params = () =>
  metricParams({
    tool: text.optional().describe('the goal is reached when a call of this tool succeeds'),
    answer: text
      .optional()
      .describe('the goal is reached when the agent says this, upper or lower case'),
    goal: text.optional().describe('the goal in words; the judge says when it was reached'),
  });

export const metric = defineMetric({
  name: 'turns_to_goal',
  group: 'conversation',
  layer: 'correctness',
  better: 'lower',
  scale: 'raw',
  unit: 'turns',
  needs: [
    "a goal: the parameter tool, answer or goal, else the user's",
    'a judge for a goal in words',
  ],
  summary: 'the turn in which the goal was reached',
  params,
  evaluate: async (input) => {
    const { trace } = input;
    if (!trace) return notMeasured('no trace');
    const { params: written } = input;
    const isWritten = Object.values(written).some((value) => value !== undefined);
    const { goal_tool: tool, goal } = caseOf(input);
    let wanted: typeof written;
    if (isWritten) wanted = written;
    else if (tool === undefined) wanted = { goal };
    else wanted = { tool };
    if (wanted.tool !== undefined) return byTool(trace, wanted.tool);
    if (wanted.answer === undefined && wanted.goal === undefined)
      return notMeasured('no goal: write the parameter "tool", "answer" or "goal"');
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    if (wanted.answer !== undefined) return byAnswer(trace, said, wanted.answer);
    const { judgeGoalTurn } = await import('./judged-goal-turn.ts');
    return judgeGoalTurn(input, said, wanted.goal!);
  },
});

function byTool(trace: Trace, tool: string): Found {
  const is = compileGlob(tool);
  const detail = { method: 'tool', tool };
  const own = toolCalls(trace).filter(
    ({ name, rawName }) => is(name) || (rawName !== undefined && is(rawName)),
  );
  const done = own.find(
    ({ status }) => status !== 'error' && status !== 'denied' && status !== 'cancelled',
  );
  const isWhole = trace.captured.toolCalls === 'full';
  // A missing call may have come before the captured one.
  if (!isWhole) return notMeasured('tool calls were not captured in full', detail);
  if (done === undefined) return notReached(trace, `no call of ${tool} succeeded`, detail);
  if (done.status !== 'ok')
    return notMeasured(`the call of ${tool} was recorded without a result or a status`, detail);
  const turn = trace.conversation === undefined ? 1 : done.userTurn;
  return turn === undefined
    ? notMeasured(`the turn of the call of ${tool} is not known`, detail)
    : measured(turn, detail);
}

function byAnswer(trace: Trace, said: readonly Said[], answer: string): Found {
  const detail = { method: 'answer', answer };
  const plain = (words: string): string =>
    words.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
  const found = said.find((each) => plain(each.answer).includes(plain(answer)));
  return found === undefined
    ? notReached(trace, `no answer says ${JSON.stringify(answer)}`, detail)
    : measured(found.turn, detail);
}

/** The missing part may have reached the goal. */
function notReached(trace: Trace, why: string, detail: Readonly<Record<string, unknown>>): Found {
  const { length } = turnsOf(trace);
  if (trace.status === 'incomplete')
    return notMeasured(`${why}, and the recording is incomplete`, detail);
  return missed(
    `the goal was not reached in ${length} ${length === 1 ? 'turn' : 'turns'}: ${why}`,
    detail,
  );
}
