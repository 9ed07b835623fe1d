import { dataStreamPart } from '../adapters/formats/vercel-ai-sdk/ai-parts.ts';
import { describeRedirect } from '../kit/redirect.ts';
import { isFields } from '../trace/fields.ts';
import { type AnswerRule, errorIn, isVisible } from './answer.ts';
import { errorFacts, isRetryableStatus, parseRetryAfter } from './classify-error.ts';
import { MAX_OUTPUT_BYTES } from './command.ts';
import { AgentError, type RunOutput, refuseNoAnswer } from './runner.ts';
import { assembleStream, type Piece } from './stream/assemble.ts';
import { parseLines, parseServerEvents, type StreamEvent } from './stream/server-events.ts';

/** A response as it came in: its head, and its body with the time of each chunk. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Uint8Array[];
  /** Milliseconds from the start of the request, one for each chunk. */
  readonly times: readonly number[];
}

/** Where the answer is in the response, and what counts as one. */
export interface ResponseRule extends AnswerRule {
  readonly answer?: string;
  readonly trace?: string;
  readonly acceptStatus?: readonly number[];
}

/** Reads a body to its end, up to a bound. */
export async function receive(response: Response, started: number): Promise<Received> {
  const chunks: Uint8Array[] = [];
  const times: number[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES)
        throw new AgentError('agent', `the agent sent more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`);
      chunks.push(chunk);
      times.push(performance.now() - started);
    }
  } catch (error) {
    if (error instanceof AgentError) throw error;
    // The connection was lost in the middle of the answer: the network's failure, not the agent's.
    throw new AgentError('infra', `the answer was cut off: ${errorFacts(error).message}`);
  }
  return { status: response.status, headers: Object.fromEntries(response.headers), chunks, times };
}

/** The statuses whose body is the answer itself. 202 promises one, 204 and 205 have none, 206 is a part of one. */
const ANSWERED: ReadonlySet<number> = new Set([200, 201, 203]);

/** The answer or recording in a response; throws an `AgentError` where there is none. */
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
  const value = pick(text, rule);
  refuseNoAnswer(value, rule);
  return { value, ...accepted };
}

const LINES = /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonl|jsonlines|x-jsonlines|json-seq|stream\+json)\b/i;

/** The events of a response that is a stream; undefined for any other. */
function eventsIn(text: string, headers: Received['headers']): readonly StreamEvent[] | undefined {
  const type = headers['content-type'] ?? '';
  if (/^text\/event-stream\b/i.test(type)) return parseServerEvents(text);
  const isDataStream = headers['x-vercel-ai-data-stream'] !== undefined;
  return isDataStream || LINES.test(type) ? parseLines(text.replaceAll('\u001e', '')) : undefined;
}

function streamed(
  events: readonly StreamEvent[],
  text: string,
  { chunks, times, headers }: Received,
  rule: ResponseRule,
): Omit<RunOutput, 'wallMs'> {
  const isDataStream = headers['x-vercel-ai-data-stream'] !== undefined;
  const said = events.filter(({ data }) => data.trim() !== '[DONE]' && data.trim() !== '');
  if (said.length === 0) throw new AgentError('agent', 'the agent sent a stream without events');
  const { answer, trace } = rule;
  if (trace !== undefined) return { value: pickTrace(said, trace) };
  const assembled = assembleStream(piecesOf(said, isDataStream), {
    isDone: said.length < events.length && events.at(-1)!.data.trim() === '[DONE]',
    textOf: answer === undefined ? undefined : (piece) => resolvePointer(piece, answer),
  });
  if (!assembled.ok) throw new AgentError(assembled.kind, assembled.message);
  const { value, first, warnings } = assembled;
  refuseNoAnswer(value, rule);
  const ttftMs = first === undefined ? undefined : arrivalOf(said[first]!.end, { text, chunks, times });
  return {
    value,
    ...(ttftMs === undefined ? {} : { ttftMs }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** The trace is in one of the events; where several have one, the last is the whole. */
function pickTrace(events: readonly StreamEvent[], pointer: string): unknown {
  const found = events.flatMap(({ data }) => resolvePointer(parse(data), pointer) ?? []);
  if (found.length === 0) throw new AgentError('agent', `no event of the stream has anything at "${pointer}"`);
  return found.at(-1);
}

/** Events as objects where all of them are; texts stay texts. */
function piecesOf(events: readonly StreamEvent[], isDataStream: boolean): Piece[] {
  const values = events.map(({ data }) => (isDataStream ? dataStreamPart(data) : parse(data)));
  if (values.every(isFields)) return values;
  const damaged = events.findIndex(({ data }, i) => values[i] === undefined && (isDataStream || /^\s*\{/.test(data)));
  if (damaged !== -1 && (isDataStream || values.some(isFields) || damaged === events.length - 1)) {
    throw new AgentError(
      damaged === events.length - 1 ? 'infra' : 'agent',
      `event ${damaged + 1} of the stream ${damaged === events.length - 1 ? 'is cut off' : 'cannot be read'}`,
    );
  }
  return events.map(({ data }) => data);
}

/** When the chunk came in that completed the text up to `end`. */
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
  const charset = charsetOf(headers['content-type'] ?? '');
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new AgentError('agent', `the agent sent bytes that are not ${charset} text`);
  }
}

/** What the response says of itself; UTF-8 unless it names another encoding that is known here. */
function charsetOf(contentType: string): string {
  const named = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(named).encoding.toUpperCase();
  } catch {
    return 'UTF-8';
  }
}

function pick(text: string, { answer, trace }: ResponseRule): unknown {
  if (answer === undefined && trace === undefined) return text;
  const body = parse(text);
  if (body === undefined) throw new AgentError('agent', `the agent did not send JSON: ${text.trim().slice(0, 200)}`);
  const pointer = trace ?? answer ?? '';
  const value = resolvePointer(body, pointer);
  if (value === undefined || value === null) {
    throw new AgentError('agent', `the response has nothing at "${pointer}" (it has ${keysOf(body)})`);
  }
  if (trace !== undefined) return value;
  if (typeof value === 'string') {
    if (!isVisible(value)) throw new AgentError('agent', `the answer at "${pointer}" is empty`);
    return { answer: value };
  }
  return errorIn(value) === undefined ? { answer: JSON.stringify(value) } : value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const keysOf = (body: unknown): string =>
  body !== null && typeof body === 'object' ? Object.keys(body).slice(0, 20).join(', ') || 'no keys' : typeof body;

/** RFC 6901: `/choices/0/text`; the empty pointer is the whole document. */
export function resolvePointer(document: unknown, pointer: string): unknown {
  if (pointer === '') return document;
  let current = document;
  for (const part of pointer.replace(/^\//, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}
