import { present } from '@agentci/lib/data';
import type { Fields } from '@agentci/trace';
import type { Turn } from '../../build/draft.ts';
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { fields, label, objects, text } from '../../build/values.ts';

const ROLES: Readonly<Record<string, string>> = {
  USER: 'user',
  CHATBOT: 'assistant',
  SYSTEM: 'system',
  TOOL: 'tool',
};

/** A request of version 1: the history, the preamble, the new message and the results it brings. */
export function oldInput(request: Fields): Turn[] {
  const preamble = text(request.preamble);
  const asked = text(request.message) ?? text(request.prompt);
  return present([
    preamble === undefined ? undefined : turnOfText('system', preamble),
    ...objects(request.chat_history).flatMap(historyTurns),
    asked === undefined || asked === '' ? undefined : turnOfText('user', asked),
    ...objects(request.tool_results).map(resultTurn),
  ]);
}

function historyTurns({ role, message, tool_calls, tool_results }: Fields): Turn[] {
  const results = objects(tool_results).map(resultTurn);
  const said = (label(role) ?? '').toUpperCase();
  const named = Object.hasOwn(ROLES, said) ? ROLES[said]! : 'user';
  if (named === 'tool') return results;
  return [...messageTurns({ role: named, content: message, tool_calls }), ...results];
}

/** A result repeats its call instead of an id: `{call: {name, parameters}, outputs}`. */
const resultTurn = ({ call, outputs }: Fields): Turn => ({
  role: 'tool',
  parts: [],
  name: label(fields(call).name),
  result: Array.isArray(outputs) && outputs.length === 1 ? outputs[0] : outputs,
});
