import type { Fields } from '@agentci/trace';
import { textOf } from '../../build/answer.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Turn } from '../../build/draft.ts';
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { usageOf } from '../../build/token-usage.ts';
import { amount, fields, label, objects, pick, text } from '../../build/values.ts';

/**
 * The conversation of SWE-agent. Demonstrations in it were shown to the model and never ran. It ends before the last action,
 * which only the trajectory has, as it has whatever was taken out of the conversation.
 */
export function historySteps(history: readonly Fields[], trajectory: readonly Fields[]): Dialogue {
  const dialogue = new Dialogue();
  let waiting: Call[] = [];
  let done = 0;
  for (const message of history) {
    if (message.is_demo === true || message.message_type === 'demonstration') continue;
    const agent = label(message.agent);
    const turns = messageTurns(message);
    if (message.role === 'assistant') {
      const same = trajectory.findIndex((step, i) => i >= done && isSameStep(step, message));
      if (same >= 0) {
        trajectorySteps(trajectory.slice(done, same), dialogue);
        done = same + 1;
      }
      const [said = turnOfText('assistant', '')] = turns;
      const calls = said.calls ?? actionCall(text(message.action));
      waiting = [...calls];
      // A reply that is marked as an action and shows none has lost it.
      const finish =
        message.message_type === 'action' && calls.length === 0
          ? ('tool_calls' as const)
          : undefined;
      dialogue.reply(
        { ...said, calls: calls.length === 0 ? said.calls : calls },
        { agent, finish },
      );
      continue;
    }
    const ids = (Array.isArray(message.tool_call_ids) ? message.tool_call_ids : []).flatMap(
      (id) => label(id) ?? [],
    );
    const isAnswer =
      message.message_type === 'observation' && (waiting.length > 0 || ids.length > 0);
    if (!isAnswer) {
      dialogue.hear(...turns);
      continue;
    }
    const result = text(message.content) ?? textOf(turns[0]) ?? '';
    dialogue.hear(answer(waiting, ids[0], result));
    waiting = [];
  }
  // Without a common step, the missing ones cannot be located.
  return done === 0 ? dialogue : trajectorySteps(trajectory.slice(done), dialogue);
}

/** The last step may have an exit status instead of an action, and then nothing ran. */
const EXIT = /^exit_\w+$/;

/** How many actions ran. */
export const actionCount = (trajectory: readonly Fields[]): number =>
  trajectory.filter(({ action }) => {
    const command = text(action)?.trim() ?? '';
    return command !== '' && !EXIT.test(command);
  }).length;

/** A step and a reply are the same if their text or action agree. */
function isSameStep(step: Fields, message: Fields): boolean {
  const said = (value: unknown): string => (text(value) ?? '').trim();
  const [action, response] = [said(step.action), said(step.response)];
  const commands = messageTurns(message).flatMap(({ calls = [] }) =>
    calls.map(({ args }) => said(fields(args).command)),
  );
  return (
    (action !== '' && (action === said(message.action) || commands.includes(action))) ||
    (response !== '' && response === said(message.content))
  );
}

/** Steps without a conversation: each is one reply, one command and its output. */
export function trajectorySteps(steps: readonly Fields[], dialogue = new Dialogue()): Dialogue {
  for (const step of steps) {
    if (EXIT.test(text(step.action) ?? '')) continue;
    const calls = actionCall(text(step.action));
    const seconds = amount(step.execution_time);
    const said = text(pick(step, 'response', 'thought')) ?? '';
    dialogue.reply(
      { ...turnOfText('assistant', said), calls: calls.length === 0 ? undefined : calls },
      seconds === undefined ? {} : { meta: { execution_ms: seconds * 1000 } },
    );
    if (calls.length > 0) dialogue.hear(answer(calls, undefined, text(step.observation) ?? ''));
  }
  return dialogue;
}

/** The tool is the first word of a command line. */
function actionCall(action: string | undefined): Call[] {
  const name = action === undefined ? undefined : /^\s*([^\s]{1,200})/.exec(action)?.[1];
  return name === undefined ? [] : [{ name, args: { command: action?.trim() } }];
}

const answer = (calls: readonly Call[], id: string | undefined, result: string): Turn => ({
  role: 'tool',
  parts: [],
  result,
  callId: id,
  name: id === undefined ? calls[0]?.name : undefined,
});

const BLOCK = /```(?:bash|mswea_bash_command|sh)\r?\n([\s\S]*?)\r?\n?```/;
const OWN_BLOCK = /```mswea_bash_command\r?\n/;
const RETURN_CODE = /<returncode>\s*(-?\d{1,10})\s*<\/returncode>/;

/**
 * Whether messages contain mini-SWE-agent commands: in a named block, or answered with an exit
 * code.
 */
export function hasCommands(messages: readonly Fields[]): boolean {
  const isAnswered = messages.some(
    ({ role, content }) => role !== 'assistant' && RETURN_CODE.test(text(content) ?? ''),
  );
  return messages.some(({ role, content }) => {
    const said = role === 'assistant' ? (text(content) ?? '') : '';
    return OWN_BLOCK.test(said) || (isAnswered && BLOCK.test(said));
  });
}

/** mini-SWE-agent: commands are text blocks or tool calls, followed by their output. */
export function miniSteps(messages: readonly Fields[]): Dialogue {
  const dialogue = new Dialogue();
  let waiting: Call[] = [];
  for (const message of messages) {
    const turns = messageTurns(message);
    if (message.role === 'assistant') {
      const [said = turnOfText('assistant', '')] = turns;
      const extra = fields(message.extra);
      const response = fields(extra.response);
      const usd = amount(extra.cost);
      waiting = [...(said.calls ?? blockCall(textOf(said) ?? '', extra))];
      dialogue.reply(
        { ...said, calls: waiting.length === 0 ? said.calls : waiting },
        {
          model: label(response.model),
          usage: usageOf(response.usage),
          cost: usd === undefined || usd === 0 ? undefined : { usd, source: 'reported' as const },
        },
      );
    } else if ((message.role === 'user' || message.role === 'tool') && waiting.length > 0) {
      dialogue.hear(observation(message, turns, waiting));
      waiting = waiting.slice(1);
    } else dialogue.hear(...turns);
  }
  return dialogue;
}

function blockCall(said: string, extra: Fields): Call[] {
  const [action] = objects(extra.actions);
  const command = text(action?.command) ?? BLOCK.exec(said)?.[1];
  return command === undefined ? [] : [{ name: 'bash', args: { command } }];
}

function observation(message: Fields, turns: readonly Turn[], waiting: readonly Call[]): Turn {
  const result = textOf(turns[0]) ?? text(message.content) ?? '';
  const code = Number(
    fields(message.extra).returncode ?? RETURN_CODE.exec(result)?.[1] ?? Number.NaN,
  );
  const callId = label(pick(message, 'tool_call_id')) ?? waiting[0]?.id;
  const answered = answer(waiting, callId, result);
  if (Number.isNaN(code)) return answered;
  if (code === 0) return { ...answered, status: 'ok' };
  return { ...answered, status: 'error', error: { message: result, code } };
}
