import { isDataStreamText } from '@agentci/formats';
import { parseUnambiguous } from '@agentci/lib/json';
import { describeRedirect } from '@agentci/lib/net';
import { isFields } from '@agentci/trace';
import { type AnswerRule, whyNoAnswer } from './answer.ts';
import { isRetryableStatus, parseRetryAfter } from './classify-error.ts';
import { AgentError, type RunOutput, refuseNoAnswer } from './runner.ts';
import { assembleStream } from './stream/assemble.ts';
import { parseLines, parseServerEvents, type StreamEvent } from './stream/server-events.ts';
import { streamPieces } from './stream/stream-pieces.ts';

/** A response: its head, and its body with the time of each chunk. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Uint8Array[];
  /** Milliseconds from the start of the request, one for each chunk. */
  readonly times: readonly number[];
  readonly setCookies?: readonly string[];
}

/** The path of the answer in the response, and the rules for an answer. */
export interface ResponseRule extends AnswerRule {
  readonly answer?: string;
  readonly trace?: string;
  readonly acceptStatus?: readonly number[];
}

/**
 * The statuses with the answer in the body. 202 promises one, 204 and 205 have none, 206 is
 * partial.
 */
const ANSWERED: ReadonlySet<number> = new Set([200, 201, 203]);

/** The answer or recording in a response. Throws an `AgentError` if there is none. */
export function responseOutput(received: Received, rule: ResponseRule): Omit<RunOutput, 'wallMs'> {
  const { status, headers } = received;
  const redirect = describeRedirect(status, headers.location);
  if (redirect !== undefined) throw new AgentError('agent', `the agent answered ${redirect}`);
  if (!ANSWERED.has(status) && !rule.acceptStatus?.includes(status)) {
    const text = Buffer.concat(received.chunks).toString('utf8');
    throw new AgentError(
      isRetryableStatus(status) ? 'infra' : 'agent',
      `the agent answered HTTP ${status}${text.trim() ? `: ${text.trim().slice(0, 300)}` : ''}`,
      { retryAfterMs: parseRetryAfter(headers['retry-after']) },
    );
  }
  const text = decode(received);
  const accepted = rule.acceptsErrors ? { acceptsErrors: true } : {};
  const events = eventsIn(text, headers);
  if (events !== undefined) return { ...streamed(events, text, received, rule), ...accepted };
  return { ...pick(text, rule), ...accepted };
}

const LINES =
  /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonl|jsonlines|x-jsonlines|json-seq|stream\+json)\b/i;

/** The events of a streamed response. Undefined for any other. */
function eventsIn(text: string, headers: Received['headers']): readonly StreamEvent[] | undefined {
  const type = headers['content-type'] ?? '';
  if (/^text\/event-stream\b/i.test(type)) return parseServerEvents(text);
  return isDataStream(text, headers) || LINES.test(type)
    ? parseLines(text.replaceAll('\u001e', ''))
    : undefined;
}

const isDataStream = (text: string, headers: Received['headers']): boolean =>
  headers['x-vercel-ai-data-stream'] !== undefined || isDataStreamText(text);

function streamed(
  events: readonly StreamEvent[],
  text: string,
  { chunks, times, headers }: Received,
  rule: ResponseRule,
): Omit<RunOutput, 'wallMs'> {
  const said = streamPieces(events, isDataStream(text, headers));
  const { answer: pointer, trace } = rule;
  if (trace !== undefined) return { value: pickTrace(said.events, trace, rule) };
  const assembled = assembleStream(said.pieces, {
    isDone: said.isDone,
    textOf: pointer === undefined ? undefined : (piece) => resolvePointer(piece, pointer),
  });
  if (!assembled.ok) throw new AgentError(assembled.kind, assembled.message);
  const { value, answer, first } = assembled;
  // Text that the spec points at is an answer like any other.
  refuseNoAnswer(answer ?? (pointer === undefined ? value : (pickedText(value) ?? value)), rule);
  const warnings = [...said.warnings, ...assembled.warnings];
  const ttftMs =
    first === undefined ? undefined : arrivalOf(said.events[first]!.end, { text, chunks, times });
  return {
    value,
    answer: answer === undefined ? undefined : { text: answer },
    ttftMs,
    warnings: warnings.length !== 0 ? warnings : undefined,
  };
}

const pickedText = (value: unknown): unknown => (isFields(value) ? value.answer : undefined);

/** The trace is in one of the events. If several have one, the last is complete. */
function pickTrace(events: readonly StreamEvent[], pointer: string, rule: ResponseRule): unknown {
  const found = events.flatMap(({ data }) => resolvePointer(parse(data), pointer) ?? []);
  if (found.length === 0)
    throw new AgentError('agent', `no event of the stream has anything at "${pointer}"`);
  refuseNoAnswer(found.at(-1), rule);
  return found.at(-1);
}

/** Arrival time of the chunk that completed the text up to `end`. */
function arrivalOf(
  end: number,
  { text, chunks, times }: Pick<Received, 'chunks' | 'times'> & { readonly text: string },
): number | undefined {
  const bytes = Buffer.byteLength(text.slice(0, end));
  let seen = 0;
  for (const [i, chunk] of chunks.entries()) {
    seen += chunk.length;
    if (seen >= bytes) return times[i];
  }
  return times.at(-1);
}

function decode({ chunks, headers }: Received): string {
  const { charset, decoder } = charsetOf(headers['content-type'] ?? '');
  try {
    return decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  } catch {
    throw new AgentError('agent', `the agent sent bytes that are not ${charset} text`);
  }
}

interface Charset {
  readonly charset: string;
  readonly decoder: InstanceType<typeof TextDecoder>;
}

/**
 * Creating a decoder takes longer than decoding, and a server uses the same charset in every
 * response.
 */
const charsets = new Map<string, Charset>();
const MAX_CHARSETS = 100;

/** The charset of the response. UTF-8 unless it names another known encoding. */
function charsetOf(contentType: string): Charset {
  const named = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  const known = charsets.get(named);
  if (known !== undefined) return known;
  const made = makeCharset(named) ?? makeCharset('utf-8')!;
  if (charsets.size < MAX_CHARSETS) charsets.set(named, made);
  return made;
}

function makeCharset(name: string): Charset | undefined {
  try {
    const decoder = new TextDecoder(name, { fatal: true });
    return { charset: decoder.encoding.toUpperCase(), decoder };
  } catch {
    return undefined;
  }
}

function pick(text: string, rule: ResponseRule): Pick<RunOutput, 'value' | 'answer'> {
  const { answer, trace } = rule;
  if (answer === undefined && trace === undefined) {
    refuseNoAnswer(text, rule);
    return { value: text };
  }
  const body = parse(text);
  if (body === undefined)
    throw new AgentError('agent', `the agent did not send JSON: ${text.trim().slice(0, 200)}`);
  const pointer = trace ?? answer ?? '';
  const value = resolvePointer(body, pointer);
  if (value === undefined || value === null) {
    throw new AgentError(
      'agent',
      `the response has nothing at "${pointer}" (it has ${keysOf(body)})`,
    );
  }
  const why = whyNoAnswer(value, rule);
  if (why !== undefined) throw new AgentError('agent', `the agent ${why} (at "${pointer}")`);
  if (trace !== undefined) return { value };
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  // The rest of the body may contain the stop reason, the usage and the tool calls.
  return { value: { answer: words }, answer: { text: words, body, pointer } };
}

const parse = (text: string): unknown => parseUnambiguous(text);

const keysOf = (body: unknown): string =>
  body !== null && typeof body === 'object'
    ? Object.keys(body).slice(0, 20).join(', ') || 'no keys'
    : typeof body;

/** RFC 6901: `/choices/0/text`. The empty pointer is the whole document. */
export function resolvePointer(document: unknown, pointer: string): unknown {
  if (pointer === '') return document;
  let current = document;
  for (const part of pointer.replace(/^\//, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key))
      return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}
