import type { Message, Step, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { plainMessage, textOf } from '../../build/answer.ts';
import { contentOf, UNNAMED } from '../../build/blocks.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { messageTurns } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { amount, argumentsOf, fields, label, objects, text, time } from '../../build/values.ts';

const TYPES = new Set(['user', 'gemini', 'info', 'error', 'warning']);

/** A message of a session. Older files have no ids. */
const isMessage = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.type === 'string' &&
  TYPES.has(value.type) &&
  ('content' in value || 'toolCalls' in value);

export const isMessageLine = (value: unknown): boolean =>
  isMessage(value) &&
  typeof value.id === 'string' &&
  'timestamp' in value &&
  !('sessionId' in value);

/** A whole session in one object. */
export const isSession = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.sessionId === 'string' &&
  ('projectHash' in value || 'startTime' in value) &&
  Array.isArray(value.messages) &&
  value.messages.every(isMessage);

/** A line about the session: its start, changes, rewinds. */
export const isSessionLine = (value: unknown): boolean =>
  isFields(value) &&
  ((typeof value.sessionId === 'string' && typeof value.projectHash === 'string') ||
    (isFields(value.$set) && Object.keys(value).length === 1) ||
    typeof value.$rewindTo === 'string');

interface Session {
  readonly about: Fields;
  readonly messages: readonly Fields[];
  /** Rewound messages, whose calls were executed. */
  readonly left: ReadonlySet<string>;
  /** Replies that a checkpoint repeats and that are not there. */
  readonly absent: readonly string[];
}

/** A placeholder for the model's reply to a summary. */
const RECEIPT = /^Got it\b/;

/**
 * Assembles a session. A rewritten message replaces its text and keeps its calls. A checkpoint
 * after compression repeats and shortens messages, so it adds only new ones.
 */
function collect(lines: readonly Fields[]): Session {
  const messages = new Map<string, Fields>();
  const left = new Set<string>();
  const absent: string[] = [];
  let about: Fields = {};
  let unnamed = 0;
  const put = (message: Fields): void => {
    const id = label(message.id) ?? `#${++unnamed}`;
    const before = messages.get(id);
    messages.set(
      id,
      before === undefined ? message : { ...message, toolCalls: joined(before, message) },
    );
    left.delete(id);
  };
  for (const line of lines) {
    if (isMessage(line) && !isSession(line)) put(line);
    else if (typeof line.$rewindTo === 'string') {
      const ids = [...messages.keys()];
      for (const id of ids.slice(Math.max(0, ids.indexOf(line.$rewindTo)))) left.add(id);
    } else {
      const more = fields(line.$set ?? line);
      const isCheckpoint = line.$set !== undefined && messages.size > 0;
      for (const message of objects(more.messages).filter(isMessage)) {
        const isNew = !messages.has(label(message.id) ?? '');
        if (!isCheckpoint || objects(message.toolCalls).length > 0) put(message);
        else if (
          isNew &&
          message.type === 'gemini' &&
          !RECEIPT.test(textOf(replyTurn(message, [])) ?? '')
        )
          absent.push(label(message.id) ?? '');
      }
      const { messages: _, ...rest } = more;
      about = { ...about, ...rest };
    }
  }
  return { about, messages: [...messages.values()], left, absent };
}

function joined(before: Fields, after: Fields): readonly Fields[] {
  const now = objects(after.toolCalls);
  const ids = new Set(now.map(({ id }) => label(id)));
  return [
    ...objects(before.toolCalls).filter(({ id }) => !ids.has(label(id)) || label(id) === undefined),
    ...now,
  ];
}

export function sessionDraft(lines: readonly Fields[], format: string): Draft {
  const { about, messages, left, absent } = collect(lines);
  const dialogue = new Dialogue();
  const gaps = absent.map(
    (id): GapNote => ({ gap: 'absentChildren', detail: `the message ${id.slice(0, 80)}` }),
  );
  const called = new Set<string>();
  for (const message of messages) {
    const at = time(message.timestamp);
    if (message.type === 'user') dialogue.hear(...userTurns(message));
    if (message.type !== 'gemini') continue;
    const calls = objects(message.toolCalls);
    gaps.push(...calls.flatMap(subagentGap));
    const turn = replyTurn(message, calls);
    for (const { name } of turn.calls ?? []) called.add(name);
    dialogue.reply(turn, {
      status: 'ok',
      model: label(message.model),
      usage: usageOf(message.tokens),
      t0: at,
      timing: at === undefined ? undefined : ('estimated' as const),
    });
    dialogue.hear(...calls.map(resultTurn));
  }
  const { toolSequence } = fields(about.memoryScratchpad);
  const unseen = Array.isArray(toolSequence)
    ? toolSequence.filter((name) => !called.has(label(name) ?? ''))
    : [];
  if (unseen.length > 0)
    gaps.push({
      gap: 'moreCounted',
      detail: `the session names ${(label(unseen[0]) ?? 'a tool').slice(0, 80)}`,
    });
  const kept = messages.filter(({ id }) => !left.has(label(id) ?? ''));
  const failure = messages.at(-1)?.type === 'error' ? text(messages.at(-1)!.content) : undefined;
  const asked = left.size === 0 ? undefined : firstWords(kept);
  const final = left.size === 0 ? undefined : lastWords(kept);
  return {
    source: { format },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: AGENT_RECORD,
    gaps,
    ...timeSpan([
      time(about.startTime),
      ...messages.map(({ timestamp }) => time(timestamp)),
      time(about.lastUpdated),
    ]),
    id: label(about.sessionId),
    task: asked === undefined ? undefined : { input: [asked] },
    final: final === undefined ? undefined : { text: final },
    status: failure === undefined ? undefined : ('error' as const),
    error: failure === undefined ? undefined : { message: failure },
    meta: left.size === 0 ? {} : { messages_taken_back: left.size },
  };
}

const userTurns = ({ content }: Fields): Turn[] => messageTurns({ role: 'user', content });

/** If the history is stored as the model had it, the content repeats the calls. */
function replyTurn({ content, thoughts }: Fields, records: readonly Fields[]): Turn {
  const said = contentOf(content);
  const calls = records.map(callOf);
  const parts = objects(thoughts).flatMap(({ description, subject }) => {
    const words = [text(subject), text(description)]
      .filter((part) => part !== undefined && part !== '')
      .join(': ');
    return words === '' ? [] : [{ type: 'reasoning' as const, text: words }];
  });
  const isKnown = (call: Call): boolean =>
    calls.some((one) =>
      call.id === undefined || one.id === undefined
        ? one.name === call.name && JSON.stringify(one.args) === JSON.stringify(call.args)
        : one.id === call.id,
    );
  const all = [...calls, ...said.calls.filter((call) => !isKnown(call))];
  return {
    role: 'assistant',
    parts: [...parts, ...said.parts],
    calls: all.length !== 0 ? all : undefined,
  };
}

const callOf = (call: Fields): Call => ({
  name: label(call.name) ?? UNNAMED,
  ...argumentsOf(call.args),
  id: label(call.id),
});

const STATUS: Readonly<Record<string, Step['status']>> = {
  success: 'ok',
  ok: 'ok',
  error: 'error',
  cancelled: 'cancelled',
  canceled: 'cancelled',
};

function resultTurn(call: Fields): Turn {
  const { results, parts } = contentOf(call.result ?? []);
  const [given] = results;
  const state = typeof call.status === 'string' ? call.status : undefined;
  let status: 'error' | 'ok' | 'denied' | 'cancelled' | 'pending' | 'unknown' | undefined;
  if (state === undefined) status = given?.status;
  else if (Object.hasOwn(STATUS, state)) status = STATUS[state]!;
  else status = 'pending';
  const shown = given?.result ?? (parts.length > 0 ? undefined : text(call.resultDisplay));
  return {
    role: 'tool',
    parts: given?.parts ?? parts,
    callId: label(call.id),
    name: label(call.name),
    result: shown,
    status,
    error:
      status === 'error'
        ? (given?.error ?? { message: typeof shown === 'string' ? shown : '' })
        : undefined,
  };
}

const AGENT_TOOLS = new Set(['invoke_agent', 'delegate_to_agent']);

/** A sub-agent has a separate session file, so its calls are missing here. */
function subagentGap(call: Fields): GapNote[] {
  const { agentId, resultDisplay, name } = call;
  const isShown =
    isFields(resultDisplay) &&
    (resultDisplay.isSubagentProgress === true || 'recentActivity' in resultDisplay);
  const isSaid = typeof resultDisplay === 'string' && /^Subagent\b/.test(resultDisplay);
  const isAgent =
    typeof agentId === 'string' || isShown || isSaid || AGENT_TOOLS.has(label(name) ?? '');
  if (!isAgent) return [];
  return [
    {
      gap: 'unlinked',
      detail: `the sub-agent ${label(name)?.slice(0, 80) ?? ''} has a separate session`,
    },
  ];
}

function usageOf(tokens: unknown): Usage | undefined {
  const { input, output, cached, thoughts, tool, total } = fields(tokens);
  const [sent, said] = [amount(input), amount(output)];
  if (sent === undefined && said === undefined) return undefined;
  return {
    input: sent === undefined ? undefined : sent + (amount(tool) ?? 0),
    output: said === undefined ? undefined : said + (amount(thoughts) ?? 0),
    cacheRead: amount(cached),
    reasoning: amount(thoughts),
    total: amount(total),
  };
}

function firstWords(messages: readonly Fields[]): Message | undefined {
  const turn = messages.filter(({ type }) => type === 'user').flatMap(userTurns)[0];
  return turn?.role === 'user' ? plainMessage(turn) : undefined;
}

const lastWords = (messages: readonly Fields[]): string | undefined =>
  messages
    .filter(({ type }) => type === 'gemini')
    .map((message) => textOf(replyTurn(message, [])))
    .findLast((said) => said !== undefined);
