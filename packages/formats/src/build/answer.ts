import type { Message, Part, Trace } from '@agentci/trace';
import { agentOf } from './agents.ts';
import type { Draft, DraftAgent, DraftLlm, Turn } from './draft.ts';
import { isAgent, isKept, isLlm, type Node } from './tree.ts';

/** The joined text parts of a message, or undefined if they are blank. */
export function textOf(turn: { readonly parts: readonly Part[] } | undefined): string | undefined {
  if (turn === undefined) return undefined;
  const texts = turn.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const joined = texts.join('\n');
  return joined === '' ? undefined : joined;
}

/**
 * The answer: the output of the outermost agent, else the last reply of the outermost level if it
 * requests no tool. A run that ends with a call has no answer.
 */
export function findFinal(nodes: readonly Node[]): Trace['final'] | undefined {
  const outer = nodes.findLast(
    (node): node is Node<DraftAgent> =>
      isAgent(node) &&
      isKept(node) &&
      node.above.agent === undefined &&
      node.above.tool === undefined,
  );
  const said = textOf(outer?.draft.output);
  if (outer !== undefined && said !== undefined) return { text: said, agent: outer.draft.name };
  const last = nodes.findLast(
    (node): node is Node<DraftLlm> => isLlm(node) && isKept(node) && node.above.tool === undefined,
  );
  if (last === undefined) return undefined;
  const { output } = last.draft;
  const text = textOf(output);
  const asks = (output?.calls ?? []).some((call) => call.by !== 'provider');
  if (text === undefined || asks) return undefined;
  const agent = agentOf(last);
  return agent === undefined ? { text } : { text, agent };
}

/**
 * The task: as the source reports it, else the input of the outermost agent, else the messages of
 * the first call.
 */
export function findTask(draft: Draft, nodes: readonly Node[]): Trace['task'] | undefined {
  if (draft.task?.input !== undefined) return draft.task;
  const agent = nodes.find(
    (node): node is Node<DraftAgent> => isAgent(node) && node.draft.input !== undefined,
  );
  const llms = nodes.filter((node): node is Node<DraftLlm> => isLlm(node) && isKept(node));
  // New messages in a later call answer the earlier ones and are not the task.
  const llm = llms.find(
    ({ draft: { input, inputIsDelta } }, i) =>
      input !== undefined && (i === 0 || inputIsDelta !== true),
  );
  const input = asked(agent?.draft.input) ?? asked(llm?.draft.input) ?? asked(draft.turns);
  return input === undefined ? draft.task : { ...draft.task, input };
}

/**
 * Messages up to the user's last one before the model first replies. With a history, up to the last
 * one.
 */
function asked(turns: readonly Turn[] | undefined): Message[] | undefined {
  if (turns === undefined) return undefined;
  const end = turns.findLastIndex(({ role }) => role === 'user');
  return end < 0 ? undefined : turns.slice(0, end + 1).map(plainMessage);
}

/** A message as a trace keeps it. */
export function plainMessage(turn: Turn): Message {
  const { role, parts, name, callId, calls } = turn;
  return {
    role,
    parts: [...parts],
    name,
    callId,
    calls:
      calls === undefined || calls.length === 0
        ? undefined
        : calls.map((call) => ({
            name: call.name,
            id: call.id,
            args: call.args,
          })),
  };
}
