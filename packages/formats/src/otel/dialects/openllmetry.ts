import { messageTurns, turnOfText } from '../../build/messages.ts';
import { argumentsOf, fields, label, resultOf, unpacked } from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { llmFacts } from '../facts.ts';
import { merged, wordsOf } from '../messages.ts';
import type { Span } from '../span.ts';
import { unflattened } from './flattened.ts';
import { readGenAi } from './genai.ts';

/** Attributes of its instrumentations next to the GenAI names, by version. */
const MARKS = [
  'llm.request.type',
  'gen_ai.prompt.0.role',
  'gen_ai.completion.0.role',
  'gen_ai.is_streaming',
  'llm.is_streaming',
  'llm.headers',
];

/** Its spans are named after the library and the operation. */
const NAMES =
  /^(?:openai|anthropic|bedrock|cohere|mistralai|groq|ollama|vertexai|gemini|watsonx|together|replicate|sagemaker|writer)\.(?:chat|completion|response|generate|converse)/;

/**
 * OpenLLMetry (Traceloop): its own entities, and messages flattened or, since 0.53, by the
 * conventions.
 */
export const openllmetry: Dialect = {
  name: 'openllmetry',
  matches: ({ name, attributes, scope }) =>
    NAMES.test(name) ||
    MARKS.some((key) => attributes[key] !== undefined) ||
    /^opentelemetry\.instrumentation\.(?:openai|anthropic|bedrock|cohere|langchain|llamaindex|crewai|mistralai|groq|ollama)\b/.test(
      scope,
    ) ||
    Object.keys(attributes).some(
      (key) => key.startsWith('traceloop.') || key === 'gen_ai.openai.api_base',
    ),
  read: (span) => {
    const { attributes } = span;
    const kind = attributes['traceloop.span.kind'];
    if (kind === 'tool') return toolOf(span);
    if (
      kind === 'agent' ||
      (kind === 'workflow' && attributes['traceloop.entity.input'] !== undefined)
    )
      return agentOf(span);
    const input = unflattened(attributes, 'gen_ai.prompt').flatMap(messageTurns);
    const output = unflattened(attributes, 'gen_ai.completion').flatMap((message) =>
      messageTurns({ ...message, role: 'assistant' }),
    );
    if (input.length === 0 && output.length === 0) return readGenAi(span);
    return {
      kind: 'llm',
      ...fate(span),
      ...llmFacts(attributes),
      input: input.length === 0 ? undefined : input,
      output: merged(output),
    };
  },
};

/** The input is `{args, kwargs}` or `{inputs}` around the arguments. */
function toolOf(span: Span): Reading {
  const given = unpacked(span.attributes['traceloop.entity.input']);
  const { kwargs, inputs, input_str } = fields(given);
  return {
    kind: 'tool',
    name: label(span.attributes['traceloop.entity.name']) ?? span.name.replace(/\.tool$/, ''),
    ...fate(span),
    ...argumentsOf(kwargs ?? inputs ?? input_str ?? given),
    result: resultOf(outputOf(span)),
  };
}

const outputOf = ({ attributes }: Span): unknown => {
  const given = unpacked(attributes['traceloop.entity.output']);
  return fields(given).output ?? given;
};

function agentOf(span: Span): Reading {
  const asked = wordsOf(span.attributes['traceloop.entity.input']);
  const said = wordsOf(span.attributes['traceloop.entity.output']);
  return {
    kind: 'agent',
    name:
      label(span.attributes['traceloop.entity.name']) ??
      span.name.replace(/\.(?:agent|workflow)$/, ''),
    ...fate(span),
    input: asked === undefined ? undefined : [turnOfText('user', asked)],
    output: said === undefined ? undefined : turnOfText('assistant', said),
  };
}
