import { AiParts } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { isSetError } from '../answer.ts';

/**
 * One piece of a streamed answer: a text, or an object from the stream of a provider or framework.
 */
export type Piece = string | Fields;

export type Assembled =
  | {
      readonly ok: true;
      /** A text is the answer. Anything else is a recording. */
      readonly value: unknown;
      /** The text at the path in the spec, if `value` is the whole stream. */
      readonly answer?: string;
      /** Index of the first piece with visible content. */
      readonly first: number | undefined;
      readonly warnings: Trace['warnings'];
    }
  | { readonly ok: false; readonly kind: 'agent' | 'infra'; readonly message: string };

/** How to recognize the stream of a provider, and its end. */
interface Wire {
  readonly isOne: (piece: Fields) => boolean;
  readonly isContent: (piece: Fields) => boolean;
  readonly isEnd: (piece: Fields) => boolean;
}

const typeOf = (piece: Fields): string => (typeof piece.type === 'string' ? piece.type : '');
const ANTHROPIC = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping)$/;
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

const WIRES: readonly Wire[] = [
  {
    isOne: ({ choices, object }) => Array.isArray(choices) || object === 'chat.completion.chunk',
    isContent: ({ choices }) =>
      listOf(choices).some(
        ({ delta }) => isFields(delta) && Boolean(delta.content || delta.tool_calls),
      ),
    isEnd: ({ choices }) =>
      listOf(choices).some(({ finish_reason }) => typeof finish_reason === 'string'),
  },
  {
    isOne: (piece) => typeOf(piece).startsWith('response.'),
    isContent: (piece) => typeOf(piece).endsWith('.delta'),
    isEnd: (piece) => /^response\.(?:completed|incomplete|failed)$/.test(typeOf(piece)),
  },
  {
    isOne: (piece) => ANTHROPIC.test(typeOf(piece)),
    isContent: (piece) => typeOf(piece) === 'content_block_delta',
    isEnd: (piece) => typeOf(piece) === 'message_stop',
  },
  {
    isOne: ({ candidates }) => Array.isArray(candidates),
    isContent: ({ candidates }) => listOf(candidates).some(({ content }) => isFields(content)),
    isEnd: ({ candidates }) =>
      listOf(candidates).some(({ finishReason }) => typeof finishReason === 'string'),
  },
  {
    isOne: (piece) =>
      typeof piece.done === 'boolean' && ('message' in piece || 'response' in piece),
    isContent: ({ message, response }) =>
      Boolean(response) || (isFields(message) && Boolean(message.content)),
    isEnd: ({ done }) => done === true,
  },
];

/** Whether a piece belongs to the stream of a known provider. */
export const isWirePiece = (piece: Fields): boolean => WIRES.some(({ isOne }) => isOne(piece));

const CUT_OFF: Assembled = {
  ok: false,
  kind: 'infra',
  message: 'the stream ended before the answer did: its last event is missing',
};

/**
 * Assembles the pieces of a stream. A provider's events stay events, which the recording readers
 * know. Parts of the AI SDK become its steps. Texts become one text. A stream without an end mark
 * is never an answer.
 */
export function assembleStream(
  pieces: readonly Piece[],
  options: {
    /** The stream ended with `[DONE]`. */
    readonly isDone: boolean;
    /** Extracts the text of a piece in an unknown format. */
    readonly textOf?: PickText | undefined;
  },
): Assembled {
  const objects = pieces.filter(isFields);
  const [error] = objects.flatMap((piece) => streamError(piece) ?? []);
  if (error !== undefined) return { ok: false, ...error };
  if (objects.length === 0) return joinTexts(pieces as readonly string[], options.isDone);
  const content = objects.filter((piece) => typeOf(piece) !== 'ping');
  const wire = WIRES.find(({ isOne }) => content.length > 0 && content.every(isOne));
  if (wire !== undefined) {
    // After `[DONE]` without a stop reason the readers mark the run as incomplete.
    if (!options.isDone && !objects.some(wire.isEnd)) return CUT_OFF;
    const known: Assembled = {
      ok: true,
      value: objects,
      first: firstIndex(pieces, wire.isContent),
      warnings: [],
    };
    return withAnswer(known, pieces, options.textOf);
  }
  if (objects.every(AiParts.knows))
    return withAnswer(fromAiParts(pieces, objects, options.isDone), pieces, options.textOf);
  if (options.textOf !== undefined) return joinPicked(pieces, options.textOf);
  return fromOthers(pieces, objects);
}

function fromAiParts(
  pieces: readonly Piece[],
  objects: readonly Fields[],
  isDone: boolean,
): Assembled {
  const parts = new AiParts();
  for (const part of objects) parts.add(part);
  if (parts.isAborted || !(parts.isFinished || isDone)) return CUT_OFF;
  return {
    ok: true,
    value: { steps: parts.steps() },
    first: firstIndex(pieces, AiParts.isContent),
    warnings: [],
  };
}

/**
 * An unknown format: the last piece may be the whole result, as in programs with progress events.
 */
function fromOthers(pieces: readonly Piece[], objects: readonly Fields[]): Assembled {
  const last = objects.at(-1)!;
  const isResult = 'answer' in last && objects.slice(0, -1).every((piece) => !('answer' in piece));
  if (isResult) return { ok: true, value: last, first: pieces.indexOf(last), warnings: [] };
  // Readers recognize other event formats, such as AG-UI.
  const isTyped = objects.length > 1 && objects.every((piece) => typeOf(piece) !== '');
  if (isTyped) return { ok: true, value: objects, first: undefined, warnings: [] };
  const keys = Object.keys(objects[0]!).slice(0, 8).join(', ');
  return {
    ok: false,
    kind: 'agent',
    message: `the stream is in no known format: its events have ${keys || 'no keys'} (runner.http.answer can name the text in each event)`,
  };
}

/** The text that the spec points at. A known stream does not need the path. */
function withAnswer(
  known: Assembled,
  pieces: readonly Piece[],
  textOf: PickText | undefined,
): Assembled {
  if (!known.ok || textOf === undefined) return known;
  const picked = joinPicked(pieces, textOf);
  return picked.ok ? { ...known, answer: (picked.value as { answer: string }).answer } : known;
}

type PickText = (piece: Fields) => unknown;

function joinPicked(pieces: readonly Piece[], textOf: PickText): Assembled {
  let text = '';
  let first: number | undefined;
  for (const [i, piece] of pieces.entries()) {
    const picked = typeof piece === 'string' ? undefined : textOf(piece);
    if (typeof picked !== 'string' || picked === '') continue;
    text += picked;
    first ??= i;
  }
  return first === undefined
    ? {
        ok: false,
        kind: 'agent',
        message: 'no event of the stream has a text at runner.http.answer',
      }
    : { ok: true, value: { answer: text }, first, warnings: [] };
}

/** Plain texts have no end mark. They end with the connection, and the trace says so. */
function joinTexts(pieces: readonly string[], isDone: boolean): Assembled {
  const values = pieces.map(parseText);
  const texts = values.every((value) => value !== undefined) ? (values as string[]) : pieces;
  const first = texts.findIndex((text) => text !== '');
  const warnings = isDone
    ? []
    : [{ code: 'STREAM_NO_END_MARK', message: 'the streamed text has no end mark' }];
  return { ok: true, value: texts.join(''), first: first === -1 ? undefined : first, warnings };
}

function parseText(piece: string): string | undefined {
  if (!piece.startsWith('"')) return undefined;
  try {
    return JSON.parse(piece) as string;
  } catch {
    return undefined;
  }
}

const INFRA = /overload|rate.?limit|timeout|timed out|unavailable|internal|server_error|api_error/i;

/** An error, and whether it is worth a retry. */
interface StreamError {
  readonly kind: 'agent' | 'infra';
  readonly message: string;
}

/** The error of a failed stream, in the words of the sender. */
export function streamError(piece: Fields): StreamError | undefined {
  const error = errorOf(piece);
  if (error === undefined) return undefined;
  const text = wordsOf(error);
  return {
    kind: INFRA.test(text) ? 'infra' : 'agent',
    message: `the stream ended with an error: ${text}`,
  };
}

function errorOf(piece: Fields): unknown {
  const type = typeOf(piece);
  if (type === 'response.failed')
    return (isFields(piece.response) && piece.response.error) || 'no reason given';
  if (type === 'error') return piece.error ?? piece.errorText ?? piece.message ?? piece;
  const error = [piece.error, piece.errors].find(isSetError);
  // A failed tool is a step of the run.
  return /tool|function|mcp/i.test(type) ? undefined : error;
}

function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error.slice(0, 300);
  const { type, code, message } = isFields(error) ? error : {};
  const words = [type ?? code, message].filter(
    (word) => typeof word === 'string' || typeof word === 'number',
  );
  return (words.length > 0 ? words.join(': ') : (JSON.stringify(error) ?? '')).slice(0, 300);
}

function firstIndex(
  pieces: readonly Piece[],
  isContent: (piece: Fields) => boolean,
): number | undefined {
  const index = pieces.findIndex((piece) => isFields(piece) && isContent(piece));
  return index === -1 ? undefined : index;
}
