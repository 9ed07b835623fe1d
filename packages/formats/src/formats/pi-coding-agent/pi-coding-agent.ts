import type { Message, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { plainMessage, textOf } from '../../build/answer.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Draft, GapNote, Turn } from '../../build/draft.ts';
import { endOf } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { most } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { amount, fields, label, objects, text, time } from '../../build/values.ts';

const FORMAT = 'pi-coding-agent';

/**
 * Sessions of the pi coding agent (`sessions/<folder>/*.jsonl`) and events of its JSON mode.
 * Messages form a tree: the calls of every branch were executed, and the final branch has the
 * question and the answer.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'pi coding agent: session files and events of its JSON mode',
  unit: 'file',
  detect: (sample) => most(sample, likeness),
  allowsStrays: true,
  read: (records) => (records[0] === undefined ? [] : tryBuild(records[0], () => draftOf(records))),
};

const ROLES = new Set([
  'user',
  'assistant',
  'toolResult',
  'bashExecution',
  'custom',
  'branchSummary',
  'compactionSummary',
  'system',
]);
const NOTES =
  /^(?:session|model_change|thinking_level_change|compaction|branch_summary|custom|custom_message|label|session_info)$/;

function likeness(value: unknown): number {
  if (!isFields(value) || typeof value.type !== 'string') return 0;
  if (isMessage(value)) return 0.96;
  if (value.type === 'session') return 'cwd' in value && 'timestamp' in value ? 0.96 : 0;
  return NOTES.test(value.type) && 'parentId' in value && 'timestamp' in value ? 0.9 : 0;
}

/** A line of a session, or the event that ends a message. */
const isMessage = (line: Fields): boolean =>
  (line.type === 'message' || line.type === 'message_end') &&
  isFields(line.message) &&
  typeof line.message.role === 'string' &&
  ROLES.has(line.message.role);

function draftOf(records: readonly RawRecord[]): Draft {
  const lines = records.map(({ value }) => value).filter(isFields);
  const messages = lines.filter(isMessage);
  const dialogue = new Dialogue();
  for (const [i, { message }] of messages.entries()) add(dialogue, fields(message), i);
  const { kept, absent } = chainOf(lines, messages);
  const isBranched = kept.length < messages.length;
  const own = kept.map(({ message }) => fields(message));
  const asked = isBranched ? firstWords(own) : undefined;
  const answer = isBranched ? lastWords(own) : undefined;
  const last = own.findLast(({ role }) => role === 'assistant');
  const failure =
    last?.stopReason === 'error' ? (text(last.errorMessage) ?? 'the model failed') : undefined;
  const unknown = lines.filter((line) => !isMessage(line) && mayHoldMessage(line));
  const gaps: GapNote[] = [
    ...absent.map((id): GapNote => ({ gap: 'absentParent', detail: id.slice(0, 80) })),
    ...unknown
      .slice(0, 1)
      .map(
        (line): GapNote => ({ gap: 'unknownBlock', detail: (label(line.type) ?? '').slice(0, 80) }),
      ),
  ];
  return {
    source: {
      format: FORMAT,
      version: label(lines.find(({ type }) => type === 'session')?.version),
    },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: AGENT_RECORD,
    gaps,
    ...timeSpan(lines.map(({ timestamp }) => time(timestamp))),
    id: label(lines.find(({ type }) => type === 'session')?.id),
    task: asked === undefined ? undefined : { input: [asked] },
    final: answer === undefined ? undefined : { text: answer },
    ...endOf(
      failure === undefined ? undefined : { message: failure },
      last?.stopReason === 'aborted',
    ),
    meta: isBranched ? { messages_on_left_branches: messages.length - kept.length } : {},
  };
}

/** A message with an unknown role, or in an unknown line, may contain a call. */
const mayHoldMessage = ({ type, message }: Fields): boolean =>
  type === 'message'
    ? !isFields(message) || !ROLES.has(label(message.role) ?? '')
    : isFields(message) && !EVENTS.test(label(type) ?? '') && !NOTES.test(label(type) ?? '');
/** Events of the JSON mode that the end of a message repeats. */
const EVENTS =
  /^(?:message_(?:start|update|end)|(?:turn|agent)_(?:start|end)|tool_execution_(?:start|update|end))$/;

function add(dialogue: Dialogue, message: Fields, index: number): void {
  const at = time(message.timestamp);
  if (message.role === 'assistant') {
    const [turn] = messageTurns({ role: 'assistant', content: message.content });
    const usd = amount(fields(fields(message.usage).cost).total);
    if (turn === undefined) return;
    dialogue.reply(turn, {
      status: message.stopReason === 'error' ? 'error' : 'ok',
      model: label(message.model),
      provider: label(message.provider),
      usage: usageOf(message.usage),
      cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
      finish: finishOf(message.stopReason === 'toolUse' ? 'tool_use' : message.stopReason),
      t0: at,
      timing: at === undefined ? undefined : ('estimated' as const),
    });
  } else if (message.role === 'toolResult')
    dialogue.hear(
      ...messageTurns({
        ...message,
        role: 'tool',
        name: message.toolName,
        content: wordsOr(message.content),
      }),
    );
  else if (message.role === 'bashExecution') dialogue.add(commandOf(message, index));
  else if (message.role === 'user' || message.role === 'system')
    dialogue.hear(...messageTurns({ role: message.role, content: message.content }));
}

/** Text blocks are joined, including empty ones. */
const wordsOr = (content: unknown): unknown =>
  Array.isArray(content) &&
  content.every((block) => isFields(block) && typeof block.text === 'string')
    ? objects(content)
        .map((block) => block.text)
        .join('\n')
    : content;

/** A command the user ran in the session. */
function commandOf(message: Fields, index: number) {
  const code = message.exitCode;
  const failed = typeof code === 'number' && code !== 0;
  const output = text(message.output);
  let status: 'error' | 'ok' | 'cancelled';
  if (message.cancelled === true) status = 'cancelled';
  else if (failed) status = 'error';
  else status = 'ok';
  return {
    kind: 'tool' as const,
    name: 'bash',
    // With a separate id it is not one of the model's calls.
    callId: `user-${index}`,
    args: { command: text(message.command) ?? '' },
    actor: 'user' as const,
    status,
    result: output,
    error: failed ? { message: output ?? '', code } : undefined,
  };
}

/** The cache is counted apart from the input. */
function usageOf(given: unknown): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, totalTokens } = fields(given);
  const [sent, said, read, written] = [input, output, cacheRead, cacheWrite].map(amount);
  if (sent === undefined || said === undefined) return undefined;
  return {
    input: sent + (read ?? 0) + (written ?? 0),
    output: said,
    cacheRead: read,
    cacheWrite: written,
    total: amount(totalTokens),
  };
}

/** The messages from the last to the first one. Others are on abandoned branches. */
function chainOf(
  lines: readonly Fields[],
  messages: readonly Fields[],
): { kept: readonly Fields[]; absent: string[] } {
  const byId = new Map(
    lines.flatMap((line) =>
      label(line.id) === undefined ? [] : [[label(line.id)!, line] as const],
    ),
  );
  const parents = lines.flatMap(({ parentId }) => label(parentId) ?? []);
  const absent = [...new Set(parents.filter((id) => !byId.has(id)))];
  const isTree = messages.some((line) => 'parentId' in line);
  if (!isTree) return { kept: messages, absent };
  const chain = new Set<Fields>();
  for (
    let line = messages.at(-1);
    line !== undefined && !chain.has(line);
    line = byId.get(label(line.parentId) ?? '')
  )
    chain.add(line);
  return { kept: messages.filter((line) => chain.has(line)), absent };
}

function firstWords(messages: readonly Fields[]): Message | undefined {
  const first = messages.find(({ role }) => role === 'user');
  const [turn] = first === undefined ? [] : messageTurns({ role: 'user', content: first.content });
  return turn === undefined ? undefined : plainMessage(turn);
}

const lastWords = (messages: readonly Fields[]): string | undefined =>
  messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }): Turn | undefined => messageTurns({ role: 'assistant', content })[0])
    .map((turn) => textOf(turn))
    .findLast((said) => said !== undefined);
