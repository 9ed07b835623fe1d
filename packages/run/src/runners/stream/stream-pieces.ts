import { AiParts, dataStreamPart } from '@agentci/formats';
import { parseUnambiguous } from '@agentci/lib/json';
import type { Trace } from '@agentci/trace';
import { isFields } from '@agentci/trace';
import { AgentError } from '../runner.ts';
import { isWirePiece, type Piece, streamError } from './assemble.ts';
import type { StreamEvent } from './server-events.ts';

/** The content of a stream, event by event. */
export interface StreamPieces {
  readonly pieces: readonly Piece[];
  /** The event of each piece. */
  readonly events: readonly StreamEvent[];
  readonly isDone: boolean;
  readonly warnings: Trace['warnings'];
}

const isDoneMark = ({ data }: StreamEvent): boolean => data.trim() === '[DONE]';
const isErrorName = (name: string | undefined): boolean =>
  /^(?:error|exception)$/i.test(name ?? '');

/**
 * The pieces of an answer in the events of a stream, up to its end mark. An event that reports a
 * failure is an error, whatever else was sent. A truncated event is an error too. Other text
 * between JSON pieces is skipped with a warning.
 */
export function streamPieces(events: readonly StreamEvent[], isDataStream: boolean): StreamPieces {
  const failed = events.find(({ name }) => isErrorName(name));
  if (failed !== undefined) throw namedError(failed);
  const mark = events.findIndex(isDoneMark);
  const before = mark === -1 ? events : events.slice(0, mark);
  const said = before.filter(({ data }) => data.trim() !== '');
  if (said.length === 0) throw new AgentError('agent', 'the agent sent a stream without events');
  const late =
    mark === -1
      ? []
      : events.slice(mark + 1).filter((event) => !isDoneMark(event) && event.data.trim() !== '');
  const values = said.map(({ data }) => (isDataStream ? dataStreamPart(data) : parse(data)));
  refuseDamaged(said, values, isDataStream);
  const isDone = mark !== -1;
  const told = (noise: readonly StreamEvent[]): Trace['warnings'] =>
    noise.length + late.length === 0 ? [] : [noiseWarning([...noise, ...late])];
  if (!values.some(isNamedFields)) {
    refuseOpen(said);
    return { pieces: said.map(({ data }) => data), events: said, isDone, warnings: told([]) };
  }
  const kept = said.filter((_, i) => isFields(values[i]));
  const objects = values.filter(isFields);
  const noise = said.filter((_, i) => !isFields(values[i]));
  if (noise.length > 0 && !objects.some(isKnown))
    throw new AgentError(
      'agent',
      'the stream mixes texts and objects of no known format (runner.http.answer can name the text in each event)',
    );
  refuseOpen(noise);
  return { pieces: objects, events: kept, isDone, warnings: told(noise) };
}

const isNamedFields = (value: unknown): boolean => isFields(value) && Object.keys(value).length > 0;
const isKnown = (piece: Exclude<Piece, string>): boolean =>
  isWirePiece(piece) ||
  AiParts.knows(piece) ||
  'answer' in piece ||
  streamError(piece) !== undefined;

/** The text of an event named `error`. */
function namedError({ data }: StreamEvent): AgentError {
  const value = parse(data);
  const error = (isFields(value) ? (value.error ?? value) : data.trim()) || 'no reason given';
  const words = streamError({ type: 'error', error });
  return new AgentError(words!.kind, words!.message);
}

/** An event with invalid JSON. At the end of a stream it is truncated. */
function refuseDamaged(
  events: readonly StreamEvent[],
  values: readonly unknown[],
  isDataStream: boolean,
): void {
  const isJsonStream = isDataStream || values.some(isFields);
  const at = events.findIndex(
    ({ data }, i) => values[i] === undefined && (isDataStream || /^\s*\{/.test(data)),
  );
  const isLast = at === events.length - 1;
  if (at === -1 || !(isJsonStream || isLast)) return;
  throw new AgentError(
    isLast ? 'infra' : 'agent',
    `event ${at + 1} of the stream ${isLast ? 'is cut off' : 'cannot be read'}`,
  );
}

/** A text has no end mark. Only the blank line after it shows that it is complete. */
function refuseOpen(events: readonly StreamEvent[]): void {
  if (events.some(({ isOpen }) => isOpen))
    throw new AgentError(
      'infra',
      'the stream ended inside an event: the blank line after it is missing',
    );
}

const MAX_SHOWN = 80;

function noiseWarning(noise: readonly StreamEvent[]): Trace['warnings'][number] {
  const count = noise.length === 1 ? '1 event' : `${noise.length} events`;
  const shown = JSON.stringify(noise[0]!.data.trim().slice(0, MAX_SHOWN));
  return {
    code: 'STREAM_NOISE',
    message: `ignored ${count} of the stream that do not belong to the answer: ${shown}`,
  };
}

const parse = (text: string): unknown => parseUnambiguous(text);
