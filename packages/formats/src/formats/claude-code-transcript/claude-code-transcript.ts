import type { Message } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { plainMessage } from '../../build/answer.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, GapNote } from '../../build/draft.ts';
import { most } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { TEAM_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { anthropicUsage } from '../../build/token-usage.ts';
import { fields, label, objects, text, time } from '../../build/values.ts';
import { branchesOf } from './claude-branches.ts';
import { ClaudeRun, isClaudeMessage } from './claude-run.ts';

const FORMAT = 'claude-code-transcript';

/**
 * Claude Code's session files (`projects/<folder>/<session>.jsonl`). They are undocumented, so
 * unknown lines are skipped and counted. Edits and retries make branches: the calls of every branch
 * were executed, and the final branch has the question and the answer.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Claude Code session transcripts (projects/<folder>/<session>.jsonl)',
  unit: 'file',
  detect: (sample) => most(sample, likeness),
  allowsStrays: true,
  read,
};

function likeness(value: unknown): number {
  if (!isFields(value) || typeof value.type !== 'string') return 0;
  if ('parentUuid' in value && typeof value.sessionId === 'string') return 0.97;
  if (isClaudeMessage(value) && 'timestamp' in value && !('session_id' in value)) return 0.9;
  if ('session_id' in value) return 0;
  // Lines about the session itself are among the messages and tell nothing alone.
  if (NOTES.has(value.type)) return 0.4;
  // New kinds of lines appear over time, each with its session. Other agents write similar lines.
  return typeof value.sessionId === 'string' && 'timestamp' in value ? 0.2 : 0;
}

const NOTES = new Set([
  'summary',
  'file-history-snapshot',
  'queue-operation',
  'custom-title',
  'ai-title',
  'last-prompt',
  'agent-name',
  'progress',
  'mode',
]);

interface Session {
  readonly record: RawRecord;
  readonly lines: Fields[];
  unknown: number;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const sessions = new Map<string, Session>();
  let unknown = 0;
  let last: string | undefined;
  for (const record of records) {
    const line = record.value;
    // Lines without a session, such as progress, connect their neighbors.
    const named = isFields(line) ? label(line.sessionId) : undefined;
    const id =
      named ?? (isFields(line) && label(line.uuid) !== undefined ? (last ?? '') : undefined);
    last = named ?? last;
    const isLine =
      isFields(line) &&
      typeof line.type === 'string' &&
      (id !== undefined || isClaudeMessage(line));
    if (!isLine) {
      if (!isFields(line) || typeof line.type !== 'string' || !NOTES.has(line.type)) unknown++;
      continue;
    }
    const session = sessions.get(id ?? '') ?? { record, lines: [], unknown: 0 };
    sessions.set(id ?? '', session);
    session.lines.push(line);
  }
  const uuids = new Set(
    records.flatMap(({ value }) => (isFields(value) ? (label(value.uuid) ?? []) : [])),
  );
  const warnings = unknown > 0.05 * records.length ? [unknownLines(unknown, records.length)] : [];
  return [...sessions].flatMap(([id, { record, lines }]) =>
    tryBuild(record, () => ({ ...draftOf(lines, uuids), id: id || undefined, warnings })),
  );
}

const unknownLines = (unknown: number, all: number) => ({
  code: 'UNKNOWN_LINES',
  message: `${unknown} of ${all} lines are of no known kind and were passed over`,
});

function draftOf(given: readonly Fields[], uuids: ReadonlySet<string>): Draft {
  const lines = once(given);
  const branches = branchesOf(lines, uuids);
  const callOfAgent = agentCalls(lines);
  // A sub-agent's own file holds nothing but its side chain: there it is the main thing.
  const isOwnFile = lines.filter(isClaudeMessage).every(({ isSidechain }) => isSidechain === true);
  const run = new ClaudeRun({ usageOf: (message) => anthropicUsage(message.usage) });
  const gaps: GapNote[] = branches.absent.map((uuid) => ({
    gap: 'absentParent',
    detail: uuid.slice(0, 80),
  }));
  gaps.push(...goneCalls(lines));
  for (const line of lines) {
    if (line.type === 'assistant' && !isFields(line.message))
      gaps.push({ gap: 'absentChildren', detail: 'a line without its message' });
    if (!isClaudeMessage(line) || (line.isMeta === true && !hasBlocks(line))) continue;
    const isSide = line.isSidechain === true && !isOwnFile;
    const insideCall = isSide ? callOfAgent(line) : undefined;
    const isLoose = isSide && insideCall === undefined;
    if (isLoose) gaps.push({ gap: 'unlinked', detail: 'a side chain' });
    run.add({
      message: { role: line.type, ...fields(line.message) },
      loose: isLoose ? (label(line.agentId) ?? '') : undefined,
      insideCall,
      requestId: label(line.requestId),
      at: time(line.timestamp),
    });
  }
  const { apiError } = run;
  const asked =
    branches.left.size === 0
      ? undefined
      : firstWords(lines.filter((line) => !branches.left.has(line)));
  return {
    source: { format: FORMAT, version: label(lines.findLast(hasVersion)?.version) },
    steps: run.steps,
    turns: run.turns,
    records: { ...TEAM_RECORD, prompts: 'full' },
    gaps,
    task: asked === undefined ? undefined : { input: [asked] },
    ...timeSpan(lines.map(({ timestamp }) => time(timestamp))),
    status: apiError === undefined ? undefined : 'error',
    error: apiError === undefined ? undefined : { message: apiError },
    meta: branches.left.size === 0 ? {} : { lines_on_left_branches: branches.left.size },
  };
}

/** A line that was written twice happened once. */
function once(lines: readonly Fields[]): Fields[] {
  const seen = new Set<string>();
  return lines.filter(({ uuid }) => {
    const id = label(uuid);
    if (id === undefined) return true;
    const isNew = !seen.has(id);
    seen.add(id);
    return isNew;
  });
}

/**
 * Claude Code's notes to the model are not the user's. Calls and results count, whoever wrote the
 * line.
 */
const hasBlocks = ({ message }: Fields): boolean =>
  objects(fields(message).content).some(
    ({ type }) => type === 'tool_use' || type === 'tool_result',
  );

/** The question on the final branch. */
function firstWords(lines: readonly Fields[]): Message | undefined {
  const first = lines.find(
    (line) => line.type === 'user' && line.isSidechain !== true && line.isMeta !== true,
  );
  const [turn] = first === undefined ? [] : messageTurns(fields(first.message));
  return turn?.role === 'user' ? plainMessage(turn) : undefined;
}

const hasVersion = ({ version }: Fields): boolean => typeof version === 'string';

/**
 * The call that started the sub-agent of a line. Its result names the agent's id; in older files
 * only the prompt, the first line of the side chain, identifies it.
 */
function agentCalls(lines: readonly Fields[]): (line: Fields) => string | undefined {
  const byAgent = new Map<string, string>();
  const byPrompt = new Map<string, string[]>();
  for (const line of lines) {
    for (const block of objects(fields(line.message).content)) {
      const call = label(block.tool_use_id);
      const agent = label(fields(line.toolUseResult).agentId);
      if (block.type === 'tool_result' && call !== undefined && agent !== undefined)
        byAgent.set(agent, call);
      const prompt = text(fields(block.input).prompt);
      const id = label(block.id);
      if (
        block.type !== 'tool_use' ||
        id === undefined ||
        prompt === undefined ||
        line.isSidechain === true
      )
        continue;
      const ids = byPrompt.get(prompt);
      if (ids === undefined) byPrompt.set(prompt, [id]);
      else ids.push(id);
    }
  }
  const byUuid = new Map<string, string | undefined>();
  return (line) => {
    const agent = label(line.agentId);
    const above = byUuid.get(label(line.parentUuid) ?? '');
    const found =
      (agent === undefined ? undefined : byAgent.get(agent)) ?? above ?? takePrompt(line, byPrompt);
    if (agent !== undefined && found !== undefined && !byAgent.has(agent))
      byAgent.set(agent, found);
    const uuid = label(line.uuid);
    if (uuid !== undefined) byUuid.set(uuid, found);
    return found;
  };
}

/** Two sub-agents with one prompt are two calls, so each prompt is used once. */
function takePrompt({ message }: Fields, byPrompt: Map<string, string[]>): string | undefined {
  const { content } = fields(message);
  const said = typeof content === 'string' ? content : text(objects(content)[0]?.text);
  return said === undefined ? undefined : byPrompt.get(said)?.shift();
}

/** Results that were replaced, of calls that are not there. */
function goneCalls(lines: readonly Fields[]): GapNote[] {
  const replaced = lines.flatMap(({ type, replacements }) =>
    type === 'content-replacement'
      ? objects(replacements).flatMap(({ toolUseId }) => label(toolUseId) ?? [])
      : [],
  );
  if (replaced.length === 0) return [];
  const known = new Set(
    lines.flatMap(({ message }) =>
      objects(fields(message).content).flatMap(({ id }) => label(id) ?? []),
    ),
  );
  const gone = replaced.find((id) => !known.has(id));
  return gone === undefined ? [] : [{ gap: 'orphanResult', detail: gone.slice(0, 80) }];
}
