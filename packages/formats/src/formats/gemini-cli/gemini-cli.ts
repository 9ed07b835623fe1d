import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, DraftLlm, GapNote } from '../../build/draft.ts';
import { best } from '../../build/likeness.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { fields } from '../../build/values.ts';
import { replyOf } from '../gemini-generate-content/gemini-generate-content.ts';
import { isOutput, outputDraft } from './gemini-output.ts';
import { isMessageLine, isSession, isSessionLine, sessionDraft } from './gemini-session.ts';
import { isStreamEvent, streamDraft } from './gemini-stream.ts';

const FORMAT = 'gemini-cli';

/**
 * Gemini CLI: the sessions it keeps (`chats/session-*.json`, later `.jsonl`), the events of `--output-format stream-json`,
 * and the replies of the model it writes down with `--record-responses`.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Gemini CLI: session files, stream-json events, json output, recorded responses',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => isSession(value) || isOutput(value))
      ? 'record'
      : 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  if (isSession(value) || isResponse(value) || isOutput(value)) return 0.97;
  if (isSessionLine(value)) return 0.95;
  // Messages of the user look like those of others.
  if (isMessageLine(value)) return value.type === 'gemini' ? 0.97 : 0.4;
  if (isStreamEvent(value)) return value.type === 'message' || value.type === 'error' ? 0.4 : 0.95;
  return 0;
}

const METHOD = /^(?:generateContent|generateContentStream|countTokens|embedContent)$/;
const isResponse = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.method === 'string' &&
  METHOD.test(value.method) &&
  'response' in value;

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (isSession(first.value))
    return records.flatMap((record) =>
      tryBuild(record, () => sessionDraft([fields(record.value)], FORMAT)),
    );
  if (isOutput(first.value))
    return records.flatMap((record) =>
      tryBuild(record, () => outputDraft(fields(record.value), FORMAT)),
    );
  const lines = records.map(({ value }) => value).filter(isFields);
  if (isResponse(first.value)) return tryBuild(first, () => responsesDraft(lines));
  return tryBuild(first, () =>
    lines.some(isSessionLine) || lines.some(isMessageLine)
      ? sessionDraft(lines, FORMAT)
      : streamDraft(lines, FORMAT),
  );
}

/**
 * The replies of one run in order, including sub-agents. Questions and tool results are not stored.
 */
function responsesDraft(lines: readonly Fields[]): Draft {
  const replies = lines.filter(
    ({ method }) => typeof method === 'string' && method.startsWith('generateContent'),
  );
  const gaps: GapNote[] = lines.every(isResponse)
    ? []
    : [{ gap: 'damaged', detail: 'lines that are not replies' }];
  return {
    source: { format: FORMAT, dialects: ['responses'] },
    steps: replies.map(({ response }) => stepOf(response)),
    records: MESSAGES_RECORD,
    gaps,
  };
}

/** A complete streamed reply has a finish reason. */
function stepOf(response: unknown): DraftLlm {
  const reply = replyOf(response);
  const isCut = Array.isArray(response) && reply.finish === undefined;
  return { kind: 'llm', status: 'ok', ...reply, gap: isCut ? ('cutOff' as const) : reply.gap };
}
