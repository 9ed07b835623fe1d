import type { Part } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { conversation, type Reply } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import { pairOf, type Wire } from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { best } from '../../build/likeness.ts';
import { messageTurns, turnsOf } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { gapOf } from '../../build/streams.ts';
import { geminiUsage } from '../../build/token-usage.ts';
import { fields, label, objects, pick } from '../../build/values.ts';
import {
  conversationsUnder,
  recordsUnder,
  streamsOf,
  wireReader,
} from '../../build/wire-reader.ts';
import { merged } from '../../otel/messages.ts';

const FORMAT = 'gemini-generate-content';

/**
 * Gemini and Vertex AI: contents, replies, requests with replies. Calls have no ids and are paired
 * in order.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Gemini generateContent: contents, responses, request/response pairs',
  unit: recordsUnder('contents'),
  detect: (sample) => best(sample, likeness),
  read: (records) => read(records),
};

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  const pair = pairOf({ value });
  if (pair !== undefined)
    return Array.isArray(pair.request.contents) || /:(?:stream)?generateContent\b/i.test(pair.uri)
      ? 0.95
      : 0;
  if (isReply(value)) return 0.95;
  const { contents } = value;
  if (Array.isArray(contents))
    return contents.length > 0 && contents.every((content) => contentLikeness(content) > 0)
      ? 0.93
      : 0;
  return contentLikeness(value);
}

/** Contents have untyped parts, GenAI messages typed ones. */
function contentLikeness(content: unknown): number {
  if (
    !isFields(content) ||
    !Array.isArray(content.parts) ||
    'author' in content ||
    'kind' in content ||
    'id' in content
  )
    return 0;
  const parts = objects(content.parts);
  if (parts.some((part) => 'type' in part || 'part_kind' in part || 'kind' in part)) return 0;
  if (parts.some((part) => CALLS.some((key) => key in part))) return 0.93;
  return content.role === 'model' ? 0.9 : 0.6;
}
const CALLS = ['functionCall', 'function_call', 'functionResponse', 'function_response'];

const isReply = (value: unknown): boolean =>
  isFields(value) &&
  Array.isArray(value.candidates) &&
  ('usageMetadata' in value ||
    'usage_metadata' in value ||
    isFields(fields(value.candidates[0]).content));

/**
 * Pieces of one streamed reply share an id. Without ids a reply continues until its finish reason.
 */
function pieceKey(): (record: RawRecord) => string {
  let count = 0;
  let isOpen = false;
  return ({ value }) => {
    const id = label(pick(fields(value), 'responseId', 'response_id'));
    if (id !== undefined) return `id ${id}`;
    if (!isOpen) count++;
    isOpen = finishIn(fields(value)) === undefined;
    return `piece ${count}`;
  };
}

const finishIn = (piece: Fields): unknown =>
  pick(objects(piece.candidates)[0] ?? {}, 'finishReason', 'finish_reason');

function inputOf(request: Fields): Turn[] {
  const system = turnsOf(pick(request, 'systemInstruction', 'system_instruction')).flatMap(
    ({ parts }) => parts,
  );
  const turns = turnsOf(request.contents).map(withWholeText);
  return system.length === 0 ? turns : [{ role: 'system', parts: system }, ...turns];
}

/**
 * Contents on the wire are a list of maps. A text is not the original request, and hides earlier
 * messages.
 */
const isAsSent = (contents: unknown): boolean =>
  Array.isArray(contents) && contents.every(isFields);

export const GEMINI_WIRE: Wire = {
  input: inputOf,
  asked: ({ uri, request, response }) => ({
    input: /generateContent\b/i.test(uri) && !isAsSent(request.contents) ? [] : undefined,
    model: /\/models\/([^/:?]+)/.exec(uri)?.[1],
    ...gapOf({ cutOff: /:streamGenerateContent\b/i.test(uri) && !isEnded(response) }),
  }),
  reply: replyOf,
};

const messagesDraft = (turns: readonly Turn[]): Draft => ({
  source: { format: FORMAT },
  ...conversation(turns),
  records: MESSAGES_RECORD,
});

const read = wireReader({
  format: FORMAT,
  wire: GEMINI_WIRE,
  ways: [
    streamsOf(isReply, pieceKey),
    conversationsUnder('contents', (value) => messagesDraft(inputOf(value))),
  ],
  together: (values) =>
    messagesDraft(
      values.filter(isFields).flatMap((value) => messageTurns(value).map(withWholeText)),
    ),
});

export function replyOf(response: unknown): Reply & { output?: Turn } {
  const parts = Array.isArray(response) ? objects(response) : [fields(response)];
  const last = parts.at(-1) ?? {};
  const candidates = parts.flatMap((part) => objects(part.candidates).slice(0, 1));
  const turns = candidates.flatMap(({ content }) =>
    isFields(content) ? messageTurns({ ...content, role: 'model' }) : [],
  );
  const said = merged(turns);
  const finish = parts.map(finishIn).findLast((reason) => reason !== undefined);
  const model = label(pick(last, 'modelVersion', 'model_version'));
  return {
    provider: 'google',
    output: said === undefined ? undefined : withWholeText(said),
    model,
    responseId: label(pick(last, 'responseId', 'response_id')),
    usage: geminiUsage(pick(last, 'usageMetadata', 'usage_metadata')),
    finish: finishOf(finish),
    ...gapOf({
      cutOff: parts.length > 1 && finish === undefined,
      alternatives: parts.some((part) =>
        objects(part.candidates)
          .slice(1)
          .some(({ content }) => (merged(messageTurns(fields(content)))?.calls ?? []).length > 0),
      ),
    }),
  };
}

/** A complete stream has a finish reason or a prompt refusal. */
const isEnded = (response: unknown): boolean =>
  (Array.isArray(response) ? objects(response) : [fields(response)]).some(
    (part) =>
      finishIn(part) !== undefined || isFields(pick(part, 'promptFeedback', 'prompt_feedback')),
  );

/** Streamed pieces are one text, split anywhere. */
function withWholeText(turn: Turn): Turn {
  if (turn.role !== 'assistant' || turn.parts.length < 2) return turn;
  const parts: Part[] = [];
  for (const part of turn.parts) {
    const before = parts.at(-1);
    if (part.type === 'text' && before?.type === 'text')
      parts.splice(-1, 1, { ...part, text: before.text + part.text });
    else parts.push(part);
  }
  return { ...turn, parts };
}
