import { defined } from '@agentci/lib/data';
import { isFields, type Usage } from '@agentci/trace';
import type { Call, Turn } from '../../build/draft.ts';
import { turnOfText, turnsOf } from '../../build/messages.ts';
import { usageOf } from '../../build/token-usage.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  text,
  unpacked,
} from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { finishIn, llmFacts } from '../facts.ts';
import type { Span } from '../span.ts';

/** The Vercel AI SDK's own spans: `ai.generateText`, its model calls and its tool calls side by side. */
export const aiSdk: Dialect = {
  name: 'ai-sdk',
  matches: ({ attributes }) => typeof attributes['ai.operationId'] === 'string',
  read: (span) => {
    const operation = String(span.attributes['ai.operationId']);
    if (operation === 'ai.toolCall') return toolOf(span);
    if (/\.do(?:Generate|Stream)$/.test(operation)) return llmOf(span);
    return /^ai\.(?:generate|stream)(?:Text|Object)$/.test(operation) ? agentOf(span) : undefined;
  },
};

const toolOf = (span: Span): Reading => ({
  kind: 'tool',
  name: label(span.attributes['ai.toolCall.name']) ?? 'unknown',
  ...fate(span),
  ...argumentsOf(span.attributes['ai.toolCall.args'] ?? span.attributes['ai.toolCall.input']),
  callId: label(span.attributes['ai.toolCall.id']),
  result: resultOf(span.attributes['ai.toolCall.result'] ?? span.attributes['ai.toolCall.output']),
});

function llmOf(span: Span): Reading {
  const { attributes } = span;
  const facts = llmFacts(attributes);
  return {
    kind: 'llm',
    ...facts,
    ...fate(span),
    provider: facts.provider ?? label(attributes['ai.model.provider']),
    model: label(pick(attributes, 'ai.response.model', 'ai.model.id')) ?? facts.model,
    responseId: label(attributes['ai.response.id']) ?? facts.responseId,
    finish: finishIn(attributes),
    usage: usageIn(span, facts.usage),
    ttftMs: amount(pick(attributes, 'ai.response.msToFirstChunk', 'ai.stream.msToFirstChunk')),
    input: messages(attributes['ai.prompt.messages']),
    output: output(span),
  };
}

/** The general attributes lack cached tokens, which cost less. */
function usageIn(span: Span, general: Usage | undefined): Usage | undefined {
  const own = usage(span);
  return own === undefined || general === undefined
    ? (general ?? own)
    : { ...own, ...defined(general) };
}

const usage = ({ attributes }: Span) =>
  usageOf({
    input_tokens: pick(attributes, 'ai.usage.inputTokens', 'ai.usage.promptTokens'),
    output_tokens: pick(attributes, 'ai.usage.outputTokens', 'ai.usage.completionTokens'),
    total_tokens: attributes['ai.usage.totalTokens'],
    cached_tokens: pick(
      attributes,
      'ai.usage.inputTokenDetails.cacheReadTokens',
      'ai.usage.cachedInputTokens',
    ),
    cache_write_tokens: attributes['ai.usage.inputTokenDetails.cacheWriteTokens'],
    reasoning_tokens: attributes['ai.usage.reasoningTokens'],
  });

function messages(value: unknown): Turn[] | undefined {
  const turns = turnsOf(unpacked(value));
  return turns.length === 0 ? undefined : turns;
}

function output({ attributes }: Span): Turn | undefined {
  const said = text(pick(attributes, 'ai.response.text', 'ai.response.object'));
  const calls = objects(unpacked(attributes['ai.response.toolCalls'])).flatMap((call): Call[] => {
    const name = label(call.toolName);
    const id = label(call.toolCallId);
    return name === undefined ? [] : [{ name, ...argumentsOf(pick(call, 'input', 'args')), id }];
  });
  if (said === undefined && calls.length === 0) return undefined;
  return { ...turnOfText('assistant', said ?? ''), calls: calls.length === 0 ? undefined : calls };
}

/** The outer span is the run: its usage is that of the last step, so it is not taken. */
function agentOf(span: Span): Reading {
  const { attributes } = span;
  const prompt = unpacked(attributes['ai.prompt']);
  const {
    system,
    prompt: asked,
    messages: list,
  } = isFields(prompt) ? prompt : { system: undefined, prompt, messages: undefined };
  let input: Turn[];
  if (Array.isArray(list)) input = turnsOf(list);
  else if (typeof asked === 'string') input = [turnOfText('user', asked)];
  else input = turnsOf(asked);
  if (typeof system === 'string') input.unshift(turnOfText('system', system));
  const said = output(span);
  return {
    kind: 'agent',
    name:
      label(attributes['ai.telemetry.functionId']) ??
      label(fields(attributes)['resource.name']) ??
      span.name,
    ...fate(span),
    input: input.length === 0 ? undefined : input,
    output: said && turnOfText('assistant', wordsOf(said)),
  };
}

const wordsOf = (turn: Turn): string =>
  turn.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
