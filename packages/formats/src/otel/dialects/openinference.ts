import { hasValues } from '@agentci/lib/data';
import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Turn } from '../../build/draft.ts';
import { messageTurns, turnOfText, turnsOf } from '../../build/messages.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  unpacked,
} from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { costOf, genAiUsage, llmFacts } from '../facts.ts';
import { merged, wordsOf } from '../messages.ts';
import type { Span } from '../span.ts';
import { unflattened } from './flattened.ts';
import { documentOf } from './genai.ts';

const KIND = 'openinference.span.kind';

/** OpenInference (Arize, Phoenix): a kind a span, messages flattened into attributes. */
export const openinference: Dialect = {
  name: 'openinference',
  matches: ({ attributes }) => typeof attributes[KIND] === 'string',
  read: (span) => {
    const { attributes } = span;
    switch (String(attributes[KIND]).toUpperCase()) {
      case 'LLM':
        return llmOf(span);
      case 'TOOL':
        return toolOf(span);
      case 'AGENT':
        return agentOf(span);
      case 'RETRIEVER':
        return {
          kind: 'retrieval',
          documents: unflattened(attributes, 'retrieval.documents').map((item) =>
            documentOf(fields(item.document)),
          ),
          ...fate(span),
          query: wordsOf(attributes['input.value']),
        };
      case 'GUARDRAIL':
        return {
          kind: 'guardrail',
          name: span.name,
          triggered: span.outcome === 'error',
          ...fate(span),
        };
      default:
        return undefined;
    }
  },
};

const agentName = ({ attributes }: Span): string | undefined => label(attributes['agent.name']);

function llmOf(span: Span): Reading {
  const { attributes } = span;
  const input = unflattened(attributes, 'llm.input_messages').flatMap(turnOf);
  const output = unflattened(attributes, 'llm.output_messages').flatMap(turnOf);
  const said = output.length === 0 ? wordsOf(attributes['output.value']) : undefined;
  const asked = input.length === 0 ? wordsOf(attributes['input.value']) : undefined;
  const { usage, ...facts } = llmFacts(attributes);
  return {
    kind: 'llm',
    ...facts,
    ...fate(span),
    model: label(attributes['llm.model_name']) ?? facts.model,
    provider: label(pick(attributes, 'llm.provider', 'llm.system')) ?? facts.provider,
    usage: usageOf(attributes) ?? usage,
    cost: costOf(attributes),
    input: asked === undefined ? nonEmpty(input) : [turnOfText('user', asked)],
    output: merged(output) ?? (said === undefined ? undefined : turnOfText('assistant', said)),
    agent: agentName(span),
  };
}

function usageOf(attributes: Fields): Usage | undefined {
  const count = (name: string): number | undefined => amount(attributes[`llm.token_count.${name}`]);
  const usage: Usage = {
    input: count('prompt'),
    output: count('completion'),
    total: count('total'),
    cacheRead: count('prompt_details.cache_read'),
    cacheWrite: count('prompt_details.cache_write'),
    reasoning: count('completion_details.reasoning'),
  };
  return hasValues(usage) ? usage : undefined;
}

/** `{message: {role, content | contents, tool_calls: [{tool_call: {id, function}}]}}`, as it was flattened. */
function turnOf(item: Fields): Turn[] {
  const message = fields(item.message);
  const contents = objects(message.contents).map(({ message_content }) => {
    const block = fields(message_content);
    return block.type === 'image'
      ? { type: 'image', url: fields(fields(block.image).image).url }
      : block;
  });
  const calls = objects(message.tool_calls).map(({ tool_call }) => {
    const call = fields(tool_call);
    return { id: call.id, function: call.function };
  });
  return messageTurns({
    role: message.role,
    content: contents.length > 0 ? contents : message.content,
    tool_calls: calls,
    tool_call_id: message.tool_call_id,
    name: message.name,
  });
}

function toolOf(span: Span): Reading {
  const { attributes } = span;
  const given = pick(attributes, 'tool.parameters', 'input.value');
  const args = argumentsOf(attributes['input.value'] ?? given);
  return {
    kind: 'tool',
    name: label(attributes['tool.name']) ?? label(span.name) ?? 'unknown',
    ...fate(span),
    ...(args.args === undefined && attributes['tool.parameters'] !== undefined
      ? argumentsOf(attributes['tool.parameters'])
      : withoutSignature(args)),
    callId: label(pick(attributes, 'tool.id', 'tool_call.id', 'gen_ai.tool.call.id')),
    result: toolResult(attributes['output.value']),
    agent: agentName(span),
  };
}

/** smolagents' instrumentation keeps how the function was called, `{args: [], sanitize_inputs_outputs, kwargs}`. */
function withoutSignature(given: { args?: unknown; argsRaw?: string }): {
  args?: unknown;
  argsRaw?: string;
} {
  const { args, kwargs, sanitize_inputs_outputs } = fields(given.args);
  const isCalled =
    typeof sanitize_inputs_outputs === 'boolean' && Array.isArray(args) && isFields(kwargs);
  return isCalled && args.length === 0 ? { args: kwargs } : given;
}

/** LangChain's instrumentation keeps the whole tool message. */
function toolResult(value: unknown): unknown {
  const inner = unpacked(value);
  const content = pick(fields(pick(fields(inner), 'kwargs', 'data')), 'content');
  return content === undefined ? resultOf(value) : resultOf(content);
}

function agentOf(span: Span): Reading {
  const { attributes } = span;
  const asked = unpacked(attributes['input.value']);
  const said = wordsOf(attributes['output.value']);
  const isList = Array.isArray(asked) || Array.isArray(fields(asked).messages);
  const words = wordsOf(asked);
  let input: Turn[];
  if (isList) input = turnsOf(Array.isArray(asked) ? asked : fields(asked).messages);
  else if (words === undefined) input = [];
  else input = [turnOfText('user', words)];
  return {
    kind: 'agent',
    name: agentName(span) ?? label(attributes['graph.node.id']) ?? label(span.name) ?? 'agent',
    ...fate(span),
    input: input.length === 0 ? undefined : input,
    output: said === undefined ? undefined : turnOfText('assistant', said),
    usage: usageOf(attributes) ?? genAiUsage(attributes),
    cost: costOf(attributes),
  };
}

const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined =>
  list.length > 0 ? list : undefined;
