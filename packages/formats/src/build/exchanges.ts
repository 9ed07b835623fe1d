import { gunzipSync } from 'node:zlib';
import { canonicalJson, defined, present, sha256Hex } from '@agentci/lib/data';
import type { Failure, ToolDef } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { AdapterItem, RawRecord } from '../adapter.ts';
import { eventsIn } from '../containers/events.ts';
import { isGzip } from '../containers/sniff.ts';
import { problemWith } from '../problem.ts';
import { textOf } from './answer.ts';
import { tryBuild } from './build-trace.ts';
import type { Reply } from './conversation.ts';
import type { Draft, DraftLlm, Gap, GapNote, Turn } from './draft.ts';
import { toolDefs } from './messages.ts';
import { asPair } from './recorders.ts';
import { MESSAGES_RECORD } from './records.ts';
import { label, parseJson } from './values.ts';

/** One model call on the wire: request and response. */
export interface WireExchange extends Reply {
  readonly record: RawRecord;
  readonly input: readonly Turn[];
  readonly inputIsDelta?: boolean;
  readonly output?: Turn;
  readonly error?: Failure;
  readonly tools?: readonly ToolDef[];
  /** The previous reply, if the provider keeps the history. */
  readonly previousId?: string;
  /** The conversation, if the provider keeps the history. */
  readonly threadId?: string;
}

/**
 * A request with its response, as cassettes and proxies store them. A streamed response is text or
 * its events.
 */
export interface Pair {
  readonly record: RawRecord;
  readonly uri: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly response: unknown;
  readonly status: number | undefined;
  /** Set if events of a streamed response were unreadable. */
  readonly gap?: Gap;
  /** Set if the recorder did not keep the request. */
  readonly isReplyAlone?: true;
}

export function pairOf(record: RawRecord): Pair | undefined {
  const value = asPair(record.value);
  if (!isFields(value) || !isFields(value.request) || !('response' in value)) return undefined;
  const response = bodyOf(value.response);
  const isStream = typeof response === 'string' && /^(?:event|data|:)/m.test(response);
  const readEvents = isStream ? eventsIn : linesIn;
  const events = typeof response === 'string' ? readEvents(response) : undefined;
  return {
    record,
    uri: label(value.uri) ?? label(value.url) ?? '',
    request: value.request,
    response: events === undefined ? response : events.records.map((event) => event.value),
    status: typeof value.status === 'number' ? value.status : undefined,
    gap: events !== undefined && events.broken.length > 0 ? ('damaged' as const) : undefined,
    isReplyAlone: value.isReplyAlone === true ? true : undefined,
  };
}

/** A stream of JSON lines in one text. Undefined for any other text. */
function linesIn(text: string): ReturnType<typeof eventsIn> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2 || !lines.some((line) => line.trimStart().startsWith('{'))) return undefined;
  const parsed = lines.map((line) => parseJson(line));
  const records = parsed.flatMap((value) => (isFields(value) ? [{ value }] : []));
  if (records.length * 2 <= lines.length) return undefined;
  return { records, broken: parsed.flatMap((value, i) => (isFields(value) ? [] : [i + 1])) };
}

/** How a provider's requests and replies are read. */
export interface Wire {
  readonly input: (request: Fields) => readonly Turn[];
  /** Further facts from the request. Default: its model. */
  readonly asked?: (pair: Pair) => Partial<WireExchange>;
  readonly reply: (response: unknown) => Partial<WireExchange>;
}

/** The calls in paired records. An error reply yields nothing else. */
export function exchangesIn(records: readonly RawRecord[], wire: Wire): WireExchange[] {
  return records.flatMap((record) => {
    const pair = pairOf(record);
    if (pair === undefined) return [];
    const { request, response, status, gap } = pair;
    const error = wireError(response, status);
    return [
      {
        record,
        input: wire.input(request),
        ...defined(wire.asked?.(pair) ?? { model: label(request.model) }),
        ...defined({
          error,
          tools: request.tools === undefined ? undefined : toolDefs(request.tools),
        }),
        ...defined(error === undefined ? wire.reply(response) : {}),
        ...defined({ gap }),
      },
    ];
  });
}

/** Whether any record is a request with a response, so that the others should be too. */
export const hasPairs = (records: readonly RawRecord[]): boolean =>
  records.some(({ value }) => {
    const pair = asPair(value);
    return isFields(pair) && isFields(pair.request) && 'response' in pair;
  });

/** The runs in paired records. A record that is not a pair is its own problem. */
export function pairItems(
  records: readonly RawRecord[],
  wire: Wire,
  format: string,
): AdapterItem[] {
  const strangers = records.filter((record) => !hasPairs([record]));
  return [
    ...exchangeItems(exchangesIn(records, wire), format),
    ...strangers.map((record) =>
      problemWith(record, {
        code: 'TRACE_NOT_FORMAT',
        message: 'the record is not a request with its response, unlike the others of the file',
      }),
    ),
  ];
}

/** Replies without their requests. */
export const wholeReplies = (
  records: readonly RawRecord[],
  { reply }: Pick<Wire, 'reply'>,
): WireExchange[] =>
  records.map((record) => ({ record, input: [], ...defined(reply(record.value)) }));

/** Replies in pieces, without their requests. */
export const streamedReplies = (
  streams: readonly (readonly RawRecord[])[],
  { reply }: Pick<Wire, 'reply'>,
): WireExchange[] =>
  streams.map((pieces) => ({
    record: pieces[0]!,
    input: [],
    ...defined(reply(pieces.map(({ value }) => value))),
  }));

/** Decodes a body that Node printed as bytes, `{type: "Buffer", data}`, compressed or not. */
function bodyOf(body: unknown): unknown {
  if (!isFields(body) || body.type !== 'Buffer' || !Array.isArray(body.data)) return body;
  try {
    const bytes = Buffer.from(body.data.filter((byte) => typeof byte === 'number'));
    const text = (
      isGzip(bytes) ? gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES }) : bytes
    ).toString('utf8');
    return parseJson(text) ?? text;
  } catch {
    return body;
  }
}
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * The runs in a list of calls: a call belongs to a run if its input repeats or answers that run's
 * last reply.
 */
export function exchangeItems(exchanges: readonly WireExchange[], format: string): AdapterItem[] {
  return conversationsIn(exchanges).flatMap((run) =>
    tryBuild(run[0]!.record, () => draftOf(run, format)),
  );
}

/** Groups calls by conversation. */
export function conversationsIn(exchanges: readonly WireExchange[]): WireExchange[][] {
  const runs: WireExchange[][] = [];
  const byMark = new Map<string, WireExchange[]>();
  const asked = new Set(
    exchanges.flatMap(({ output }) => output?.calls?.map(({ id }) => id) ?? []),
  );
  // Some providers give calls no ids, and some clients drop or change them.
  const losesIds = exchanges.some(({ input }) =>
    input.some(({ calls = [] }) => calls.some(({ id }) => id === undefined || !asked.has(id))),
  );
  for (const exchange of exchanges) {
    const run =
      marksBefore(exchange, losesIds)
        .map((mark) => byMark.get(mark))
        .find((found) => found !== undefined) ?? [];
    if (run.length === 0) runs.push(run);
    run.push(exchange);
    for (const mark of marksOf(exchange, losesIds)) byMark.set(mark, run);
  }
  return runs;
}

/** The marks that the next call would show of this one. */
function marksOf(
  { input, output, responseId, threadId }: WireExchange,
  losesIds: boolean,
): string[] {
  const calls = (output?.calls ?? []).flatMap(({ id }) => (id === undefined ? [] : [`call ${id}`]));
  const text = textOf(output);
  return present([
    ...calls,
    responseId === undefined ? undefined : `reply ${responseId}`,
    threadId === undefined ? undefined : `thread ${threadId}`,
    text === undefined ? undefined : textMark(textOf(input.findLast(isUsers)), text),
    losesIds && output?.calls !== undefined ? historyMarks([...input, output]).at(-1) : undefined,
  ]);
}

/** The surest first. */
function marksBefore(
  { input, previousId, threadId }: WireExchange,
  losesIds: boolean,
): readonly string[] {
  const ids = present([
    previousId === undefined ? undefined : `reply ${previousId}`,
    threadId === undefined ? undefined : `thread ${threadId}`,
  ]);
  const texts: string[] = [];
  let asked: string | undefined;
  for (const turn of input) {
    if (isUsers(turn)) asked = textOf(turn);
    if (turn.callId !== undefined) ids.push(`call ${turn.callId}`);
    if (turn.role !== 'assistant') continue;
    for (const { id } of turn.calls ?? []) if (id !== undefined) ids.push(`call ${id}`);
    const text = textOf(turn);
    if (text !== undefined) texts.push(textMark(asked, text));
  }
  return [...ids, ...(losesIds ? historyMarks(input).toReversed() : []), ...texts];
}

/** A fingerprint of the history up to each call, which identifies calls without ids. */
function historyMarks(turns: readonly Turn[]): string[] {
  const marks: string[] = [];
  let history = '';
  const add = (part: unknown): void => {
    history = sha256Hex(canonicalJson([history, part]));
  };
  for (const { role, parts, calls = [], name, result } of turns) {
    const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    if (words !== '' || result !== undefined) add([role, words, name, result]);
    for (const call of calls) {
      add([call.name, call.args ?? call.argsRaw]);
      marks.push(`history ${history}`);
    }
  }
  return marks;
}

/** Many runs say "Done.", so the question before distinguishes them. */
const textMark = (asked: string | undefined, said: string): string =>
  `text ${JSON.stringify([asked, said])}`;
const isUsers = ({ role }: Turn): boolean => role === 'user';

function draftOf(run: readonly WireExchange[], format: string): Draft {
  const last = run.at(-1)!;
  const tools = new Map(
    run.flatMap((exchange) => exchange.tools ?? []).map((tool) => [tool.name, tool]),
  );
  return {
    source: { format },
    steps: run.map(llmStep),
    records: MESSAGES_RECORD,
    gaps: present([run.some(isUnasked) ? UNASKED : undefined, ...keptElsewhere(run)]),
    tools: tools.size !== 0 ? [...tools.values()] : undefined,
    status: last.error === undefined ? undefined : 'error',
    error: last.error,
  };
}

const UNASKED: GapNote = { gap: 'absentChildren', detail: 'a request without its messages' };

/** Missing context of a run: a previous reply by id, or the start of a conversation. */
function keptElsewhere(run: readonly WireExchange[]): GapNote[] {
  const replies = new Set(run.map(({ responseId }) => responseId));
  const before = run.find(
    ({ previousId }) => previousId !== undefined && !replies.has(previousId),
  )?.previousId;
  const kept = before ?? run.find(({ threadId }) => threadId !== undefined)?.threadId;
  return kept === undefined ? [] : [{ gap: 'keptElsewhere', detail: kept.slice(0, 80) }];
}

/** A request recorded without its input hides everything before it. */
function isUnasked({ record, input, previousId, threadId }: WireExchange): boolean {
  if (input.length > 0 || previousId !== undefined || threadId !== undefined) return false;
  const pair = pairOf(record);
  return pair !== undefined && pair.isReplyAlone !== true;
}

export function llmStep({
  record: _,
  tools: __,
  previousId: ___,
  threadId: ____,
  input,
  error,
  status,
  ...rest
}: WireExchange): DraftLlm {
  return {
    kind: 'llm',
    ...rest,
    input: input.length !== 0 ? input : undefined,
    error,
    status: status ?? (error === undefined ? ('ok' as const) : ('error' as const)),
  };
}

/** An error as providers answer it: `{error: {message, type, code}}`. */
export function wireError(response: unknown, status: number | undefined): Failure | undefined {
  const error = isFields(response) ? response.error : undefined;
  if (isFields(error)) {
    const code = error.code;
    return {
      message: label(error.message),
      type: label(error.type) ?? label(error.status),
      code: typeof code === 'string' || typeof code === 'number' ? code : status,
    };
  }
  if (typeof error === 'string') return { message: error };
  return status !== undefined && status >= 400 ? { code: status } : undefined;
}
