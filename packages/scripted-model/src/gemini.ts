import { present } from '@agentci/lib/data';
import { listOf, type PlainReply, type Protocol, pieces, textOf } from './script.ts';

const usageMetadata = ({ usage: { input, output } }: PlainReply) => ({
  promptTokenCount: input,
  candidatesTokenCount: output,
  totalTokenCount: input + output,
});

const finishReason = ({ refusal, cutOff }: PlainReply): string => {
  if (refusal !== undefined) return 'SAFETY';
  return cutOff ? 'MAX_TOKENS' : 'STOP';
};

const answer = (reply: PlainReply, parts: unknown[], isLast: boolean) => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts },
      finishReason: isLast ? finishReason(reply) : undefined,
    },
  ],
  usageMetadata: isLast ? usageMetadata(reply) : undefined,
  modelVersion: reply.model,
  responseId: reply.id,
});

const callParts = ({ toolCalls }: PlainReply) =>
  toolCalls.map(({ name, args }) => ({ functionCall: { name, args } }));

/** Gemini generateContent. */
export const gemini: Protocol = {
  name: 'gemini',
  matches: (path) => /:(streamG|g)enerateContent$/.test(path),
  read: (body, path) => ({
    model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
    system: textOf((body.systemInstruction as { parts?: unknown } | undefined)?.parts),
    messages: listOf(body.contents).map(({ role, parts }) => ({
      role: String(role ?? 'user'),
      text: textOf(parts),
    })),
    tools: listOf(body.tools).flatMap(({ functionDeclarations }) =>
      listOf(functionDeclarations).map(({ name }) => String(name)),
    ),
    stream: path.includes(':streamGenerateContent'),
  }),
  write: (reply) =>
    answer(
      reply,
      present([reply.text === '' ? undefined : { text: reply.text }, ...callParts(reply)]),
      true,
    ),
  stream: (reply) => [
    ...pieces(reply.text).map((text) => ({ data: answer(reply, [{ text }], false) })),
    { data: answer(reply, callParts(reply), true) },
  ],
  error: (status, message) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL' },
  }),
};
