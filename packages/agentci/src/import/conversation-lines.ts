import { isVisible } from '@agentci/lib/text';
import type { Trace } from '@agentci/trace';
import { answerOfTurn, toolNames, traceOfTurn, turnsOf } from '@agentci/trace';

/** Above the maximum of a spec. */
const MAX_TURNS = 200;

/** Names of tools that hand over or end a conversation. */
const ENDS =
  /^(?:transfer|hand_?(?:off|over)|escalate|(?:end|close|finish|terminate)_?(?:the_?)?(?:call|chat|conversation|session|dialog)|hang_?up)/i;

/** The final tool call of a conversation: the last message has only this call and no text. */
function endTool(trace: Trace): string | undefined {
  const last = turnsOf(trace).at(-1);
  if (last === undefined || (answerOfTurn(last) ?? '').trim() !== '') return undefined;
  const name = toolNames(traceOfTurn(trace, last.turn) ?? trace).at(-1);
  return name !== undefined && ENDS.test(name) ? name : undefined;
}

const longestOf = (runs: readonly Trace[]): number =>
  Math.max(...runs.map(({ conversation }) => conversation?.turns.length ?? 1));

/**
 * The reason why a spec cannot store a conversation. A query with only its first message would be a
 * different test.
 */
export function unwritableConversation(runs: readonly Trace[]): string | undefined {
  const longest = longestOf(runs);
  if (longest > MAX_TURNS)
    return `the conversation has ${longest} turns, and a spec takes at most ${MAX_TURNS}`;
  const blank = runs[0]?.conversation?.turns.slice(1).find(({ message }) => !isVisible(message));
  return (
    blank &&
    `the message of the user in turn ${blank.turn} is empty, so the conversation cannot be repeated`
  );
}

/**
 * Writes a recorded conversation as one query: the user's messages become the script, and each turn
 * expects its tools. If several runs of a task differ, the first one provides the script.
 */
export function conversationSpec(
  runs: readonly Trace[],
  {
    quoted,
    isWritable,
  }: { quoted: (text: string) => string; isWritable: (name: string) => boolean },
): string[] {
  const longest = longestOf(runs);
  const [first] = runs;
  const turns = first?.conversation?.turns ?? [];
  if (longest < 2) return [];
  const lines = ['    conversation:', `      max_turns: ${longest}`];
  const ends = [...new Set(runs.flatMap((run) => endTool(run) ?? []))].filter(isWritable);
  if (ends.length > 0) lines.push(`      end: {agent_tool: [${ends.map(quoted).join(', ')}]}`);
  if (turns.length > 1)
    lines.push(
      '      user:',
      '        script:',
      ...turns.slice(1).map(({ message }) => `          - ${quoted(message)}`),
    );
  if (runs.length > 1 || first!.captured.toolCalls !== 'full') return lines;
  const checked = turns.flatMap(({ turn }) => {
    const slice = traceOfTurn(first!, turn);
    const names =
      slice?.captured.toolCalls === 'full' ? [...new Set(toolNames(slice))].filter(isWritable) : [];
    return names.length === 0
      ? []
      : [`      - {turn: ${turn}, path: {expected_tools: [${names.map(quoted).join(', ')}]}}`];
  });
  return checked.length === 0 ? lines : [...lines, '    turns:', ...checked];
}
