import type { Trace, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, GapNote } from '../../build/draft.ts';
import { endingOf } from '../../build/ending.ts';
import { most } from '../../build/likeness.ts';
import { TEAM_RECORD } from '../../build/records.ts';
import { anthropicUsage } from '../../build/token-usage.ts';
import { amount, fields, label, objects, text } from '../../build/values.ts';
import { ClaudeRun, isClaudeMessage, MAIN_AGENT } from '../claude-code-transcript/claude-run.ts';

const FORMAT = 'claude-code-stream-json';

/**
 * The output of `claude -p --output-format stream-json`, and the messages of the Claude Agent SDK.
 * Every `result` ends a run. Token counts on model lines are provisional; totals come from the
 * result.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Claude Code stream-json output and Claude Agent SDK messages',
  unit: 'file',
  detect: (sample) => most(sample, likeness),
  allowsStrays: true,
  read,
};

const TYPES = new Set([
  'system',
  'assistant',
  'user',
  'result',
  'stream_event',
  'rate_limit_event',
  'tool_progress',
]);

function likeness(value: unknown): number {
  const wrapped = wrappedLines(value);
  if (wrapped !== undefined) return 0.95;
  if (
    !isFields(value) ||
    typeof value.type !== 'string' ||
    'parentUuid' in value ||
    'sessionId' in value
  )
    return 0;
  if (typeof value.session_id === 'string') return isOwn(value) ? 0.97 : 0.2;
  return isClaudeMessage(value) && !('timestamp' in value) ? 0.9 : 0;
}

/** Other agents write lines with the same kinds and a session: a mark that only Claude Code has must be there. */
const isOwn = (line: Fields): boolean =>
  (line.type === 'system' && OWN_MARKS.some((mark) => mark in line)) ||
  (line.type === 'result' && typeof line.subtype === 'string' && 'is_error' in line) ||
  (line.type === 'stream_event' && isFields(line.event)) ||
  (TYPES.has(String(line.type)) && 'uuid' in line) ||
  isClaudeMessage(line);
const OWN_MARKS = ['claude_code_version', 'apiKeySource', 'permissionMode', 'mcp_servers', 'uuid'];

/** Messages as a program collected them: `{messages: [{type, message}]}`, or with the direction they went in. */
function wrappedLines(value: unknown): readonly unknown[] | undefined {
  if (!isFields(value) || !Array.isArray(value.messages) || value.messages.length === 0)
    return undefined;
  const lines = value.messages.map(undirected);
  return lines.some(isClaudeMessage) && most(lines.filter(isNoControl).slice(0, 20), likeness) > 0
    ? lines
    : undefined;
}

const undirected = (line: unknown): unknown =>
  isFields(line) && typeof line.direction === 'string' && isFields(line.message)
    ? line.message
    : line;

/** Control messages between the SDK and Claude Code belong to no run. */
const isNoControl = (line: unknown): boolean =>
  !(isFields(line) && typeof line.type === 'string' && line.type.startsWith('control_'));

/** The SDK sends its messages to a session called `default`. */
const sessionOf = (line: unknown): string => {
  const id = label(fields(line).session_id) ?? '';
  return id === 'default' ? '' : id;
};

function read(records: readonly RawRecord[]): AdapterItem[] {
  const runs = new Map<string, { record: RawRecord; lines: Fields[]; isClosed: boolean }[]>();
  const sessions = new Set(
    records.flatMap(({ value }) => (wrappedLines(value) ?? [undirected(value)]).map(sessionOf)),
  );
  sessions.delete('');
  // Sent messages do not name the session, so a single session is theirs.
  const [only = ''] = sessions.size === 1 ? sessions : [];
  for (const record of records) {
    for (const line of wrappedLines(record.value) ?? [undirected(record.value)]) {
      if (!isFields(line) || !isNoControl(line)) continue;
      const session = sessionOf(line) || only;
      const known = runs.get(session) ?? [];
      runs.set(session, known);
      let run = known.at(-1);
      if (run === undefined || run.isClosed) {
        run = { record, lines: [], isClosed: false };
        known.push(run);
      }
      run.lines.push(line);
      if (line.type === 'result') run.isClosed = true;
    }
  }
  return [...runs].flatMap(([session, list]) =>
    list.flatMap(({ record, lines }, i) =>
      tryBuild(record, () =>
        draftOf(lines, session === '' || i === 0 ? session : `${session}#${i + 1}`),
      ),
    ),
  );
}

function draftOf(lines: readonly Fields[], id: string): Draft {
  const result = lines.findLast(({ type }) => type === 'result');
  const start = lines.find(({ type, subtype }) => type === 'system' && subtype === 'init');
  const denied = new Set(
    objects(result?.permission_denials).flatMap((denial) => label(denial.tool_use_id) ?? []),
  );
  const finals = finalUsages(lines);
  const run = new ClaudeRun({
    denied,
    usageOf: (message) => finals.get(label(message.id) ?? '') ?? inputUsage(message.usage),
  });
  for (const line of lines) {
    if (!isClaudeMessage(line) || line.isSynthetic === true) continue;
    run.add({
      message: { role: line.type, ...fields(line.message) },
      insideCall: label(line.parent_tool_use_id),
    });
  }
  return {
    source: { format: FORMAT, version: label(start?.claude_code_version) },
    steps: run.steps,
    turns: run.turns,
    // A result alone shows how a run ended, not its steps.
    records: run.hasReplies ? TEAM_RECORD : {},
    id: id !== '' ? id : undefined,
    tools: Array.isArray(start?.tools) ? toolNames(start.tools) : undefined,
    ...(result === undefined ? unfinished(run) : { ...ended(result), ...hiddenCalls(result) }),
    gaps: [...(result === undefined ? [] : missingTurns(result, lines)), ...strangeCalls(lines)],
    meta: { model: label(start?.model), permission_mode: label(start?.permissionMode) },
  };
}

/** Lines of other kinds are passed over, unless they may be calls. */
function strangeCalls(lines: readonly Fields[]): GapNote[] {
  const strange = lines.find(
    ({ type }) => typeof type === 'string' && !TYPES.has(type) && /tool|call|function/i.test(type),
  );
  return strange === undefined
    ? []
    : [{ gap: 'unknownStep', detail: String(strange.type).slice(0, 80) }];
}

const toolNames = (tools: readonly unknown[]): { name: string }[] =>
  tools.flatMap((tool) => {
    const name = label(tool);
    return name === undefined ? [] : [{ name }];
  });

/** A stream without its result was cut off. */
const unfinished = ({ apiError }: ClaudeRun): Partial<Draft> =>
  apiError === undefined
    ? { status: 'incomplete' }
    : { status: 'error', error: { message: apiError } };

/** How the run ended. `success` with `is_error` exists, and is not a success. */
function ended(result: Fields): Partial<Draft> {
  const subtype = label(result.subtype) ?? 'unknown';
  const said = text(result.result);
  const isLimit = subtype === 'error_max_turns' || subtype === 'error_max_budget_usd';
  const failed = result.is_error === true || subtype.startsWith('error');
  const usd = amount(result.total_cost_usd);
  const reported: NonNullable<Trace['reported']> = {
    usage: anthropicUsage(result.usage),
    cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    durationMs: amount(result.duration_ms),
    turns: amount(result.num_turns),
  };
  const words = failed || said === undefined || said === '' ? undefined : said;
  const data = result.structured_output ?? undefined;
  const message =
    said === undefined || said === ''
      ? (Array.isArray(result.errors) ? result.errors : [])
          .filter((error) => typeof error === 'string')
          .join('; ')
      : said;
  let status: 'error' | 'ok' | 'unknown' | 'incomplete' | undefined;
  if (isLimit) status = 'incomplete';
  else if (failed) status = 'error';
  else status = 'ok';
  return {
    reported,
    status,
    ending: isLimit ? endingOf(subtype) : undefined,
    error: failed ? { type: subtype, message: message !== '' ? message : undefined } : undefined,
    final:
      words === undefined && data === undefined
        ? undefined
        : { agent: MAIN_AGENT, text: words, data },
  };
}

/** Helper models that Claude Code calls for itself are in `modelUsage` and in the cost, and not in `usage`. */
function hiddenCalls(result: Fields): Pick<Draft, 'warnings' | 'helpers'> {
  const own = anthropicUsage(result.usage);
  let all = 0;
  let input = 0;
  for (const counted of Object.values(fields(result.modelUsage))) {
    const usage = anthropicUsage(counted);
    all += (usage?.input ?? 0) + (usage?.output ?? 0);
    input += usage?.input ?? 0;
  }
  const known = (own?.input ?? 0) + (own?.output ?? 0);
  if (own === undefined || all <= known * 1.02) return {};
  const message = `the models used ${all} tokens, ${known} of them in this run's own calls; the cost is that of all`;
  const more = Math.min(all - known, Math.max(0, input - (own.input ?? 0)));
  return {
    warnings: [{ code: 'HIDDEN_CALLS', message }],
    helpers: { input: more, output: all - known - more },
  };
}

/**
 * A turn is a reply of the main agent, or an extra message of results from concurrent calls. Other
 * turns were not recorded.
 */
function missingTurns(result: Fields, lines: readonly Fields[]): GapNote[] {
  const turns = amount(result.num_turns);
  const own = lines.filter(
    (line) => isClaudeMessage(line) && label(line.parent_tool_use_id) === undefined,
  );
  const replies = new Set<unknown>();
  const askedBy = new Map<string, unknown>();
  const answered = new Set<unknown>();
  let results = 0;
  for (const line of own) {
    const { id, content } = fields(line.message);
    if (line.type === 'assistant') replies.add(id ?? line);
    for (const block of objects(content)) {
      if (block.type === 'tool_use') askedBy.set(label(block.id) ?? '', id ?? line);
      else if (block.type === 'tool_result')
        answered.add(askedBy.get(label(block.tool_use_id) ?? ''));
    }
    if (line.type === 'user' && objects(content).some(({ type }) => type === 'tool_result'))
      results++;
  }
  if (turns === undefined || replies.size === 0) return [];
  const found = replies.size + Math.max(0, results - answered.size);
  return turns > found
    ? [{ gap: 'moreCounted', detail: `${turns} turns counted, ${replies.size} replies found` }]
    : [];
}

/** Final counts of each streamed reply by message id, which alone have the true output tokens. */
function finalUsages(lines: readonly Fields[]): Map<string, Usage> {
  const finals = new Map<string, Usage>();
  const open = new Map<string, { id: string; usage: Fields }>();
  for (const { type, event, parent_tool_use_id: inside } of lines) {
    if (type !== 'stream_event' || !isFields(event)) continue;
    const thread = label(inside) ?? '';
    const started = fields(event.message);
    const id = label(started.id);
    if (event.type === 'message_start' && id !== undefined)
      open.set(thread, { id, usage: fields(started.usage) });
    const reply = open.get(thread);
    if (event.type !== 'message_delta' || reply === undefined) continue;
    const usage = anthropicUsage({ ...reply.usage, ...fields(event.usage) });
    if (usage !== undefined) finals.set(reply.id, usage);
  }
  return finals;
}

/** The input is known when a reply starts, but not the length of the reply. */
function inputUsage(value: unknown): Usage | undefined {
  const usage = anthropicUsage({ ...fields(value), output_tokens: undefined });
  return usage?.input === undefined ? undefined : usage;
}
