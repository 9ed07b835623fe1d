import { type Fields, isFields } from '@agentci/trace';
import { parseJson } from '../../build/values.ts';

const ANSWER = 'respond';
const RESULT = /^API output: ?/;

/**
 * Converts messages of the strategies `act` and `react` to tool calls. They write each call as text
 * (`Action:` and JSON) and get its result from the user (`API output:`). Messages to the user are
 * the content of the action `respond`.
 */
export function withWrittenActions(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  let open: string | undefined;
  return messages.map((message, i) => {
    if (!isFields(message)) return message;
    const { role, content } = message;
    if (
      role === 'user' &&
      open !== undefined &&
      typeof content === 'string' &&
      RESULT.test(content)
    ) {
      const id = open;
      open = undefined;
      return { role: 'tool', tool_call_id: id, content: content.replace(RESULT, '') };
    }
    open = undefined;
    const action =
      role === 'assistant' && isEmpty(message.tool_calls) ? actionIn(content) : undefined;
    if (action === undefined) return message;
    if (action.name === ANSWER)
      return typeof action.args.content === 'string'
        ? { ...message, content: action.args.content }
        : message;
    open = `action-${i}`;
    const call = {
      id: open,
      type: 'function',
      function: { name: action.name, arguments: action.args },
    };
    return { ...message, content: action.thought, tool_calls: [call] };
  });
}

const isEmpty = (calls: unknown): boolean => !Array.isArray(calls) || calls.length === 0;

function actionIn(content: unknown): { name: string; args: Fields; thought: string } | undefined {
  if (typeof content !== 'string') return undefined;
  const at = content.lastIndexOf('Action:');
  if (at === -1) return undefined;
  const written = content
    .slice(at + 'Action:'.length)
    .trim()
    .replace(/^```(?:json)?\s*|\s*```$/g, '');
  const value = parseJson(written);
  if (!isFields(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  const args = isFields(value.arguments) ? value.arguments : {};
  return {
    name: value.name,
    args,
    thought: content
      .slice(0, at)
      .replace(/^Thought:\s*/, '')
      .trim(),
  };
}
