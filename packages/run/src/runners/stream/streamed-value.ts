import { type AnswerRule, isEventStream } from '../answer.ts';
import { responseOutput } from '../http-response.ts';
import { AgentError, type RunOutput, refuseNoAnswer } from '../runner.ts';
import { assembleStream, type Piece } from './assemble.ts';

/** The pieces from a generator or stream, with the time of each since the call in milliseconds. */
export interface StreamedValue {
  readonly pieces: readonly (Piece | Uint8Array)[];
  readonly times: readonly number[];
}

/** The answer or recording in a stream that a function returned. */
export function streamedOutput(
  { pieces, times }: StreamedValue,
  rule: AnswerRule,
): Omit<RunOutput, 'wallMs'> {
  if (pieces.length === 0) throw new AgentError('agent', 'the agent gave a stream without pieces');
  if (pieces.every((piece) => piece instanceof Uint8Array)) {
    // Bytes of a forwarded response. Only their content shows the format.
    const isEvents = isEventStream(Buffer.concat(pieces).toString('utf8').replace(/^\s+/, ''));
    const type = isEvents ? 'text/event-stream' : 'text/plain';
    const output = responseOutput(
      { status: 200, headers: { 'content-type': type }, chunks: pieces, times },
      rule,
    );
    return { ttftMs: times[0], ...output };
  }
  const texts = pieces.map((piece) =>
    piece instanceof Uint8Array ? Buffer.from(piece).toString('utf8') : piece,
  );
  const areTexts = texts.every((piece) => typeof piece === 'string');
  if (!areTexts && texts.some((piece) => typeof piece === 'string'))
    throw new AgentError('agent', 'the agent gave a stream of texts and objects mixed');
  const assembled: ReturnType<typeof assembleStream> = areTexts
    ? {
        ok: true,
        value: texts.join(''),
        first: texts.findIndex((text) => text !== ''),
        warnings: [],
      }
    : assembleStream(texts, { isDone: false });
  if (!assembled.ok) throw new AgentError(assembled.kind, assembled.message);
  const { value, first, warnings } = assembled;
  refuseNoAnswer(value, rule);
  const ttftMs = first === undefined ? undefined : times[first];
  return {
    value,
    ttftMs,
    warnings: warnings.length !== 0 ? warnings : undefined,
  };
}
