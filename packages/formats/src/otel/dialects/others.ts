import type { Fields } from '@agentci/trace';
import { UNNAMED } from '../../build/blocks.ts';
import { turnOfText, turnsOf } from '../../build/messages.ts';
import { usageOf } from '../../build/token-usage.ts';
import {
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  unpacked,
} from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { merged, wordsOf } from '../messages.ts';
import type { Span } from '../span.ts';
import { documentOf } from './genai.ts';

/** Inputs and outputs of a span, and its declared kind. */
interface Work {
  readonly kind: string;
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly model?: string | undefined;
  readonly usage?: unknown;
}

/** MLflow: a type, inputs and outputs as JSON. */
export const mlflow: Dialect = {
  name: 'mlflow',
  matches: ({ attributes }) =>
    attributes['mlflow.spanType'] !== undefined || attributes['mlflow.spanInputs'] !== undefined,
  read: (span) => {
    const { attributes } = span;
    const plain = (key: string): unknown => plainText(attributes[key]);
    return workStep(span, {
      kind: label(plain('mlflow.spanType')) ?? '',
      name: named(label(plain('mlflow.spanFunctionName')) ?? span.name),
      input: attributes['mlflow.spanInputs'],
      output: attributes['mlflow.spanOutputs'],
      model: label(plain('mlflow.llm.model')),
      usage: unpacked(pick(attributes, 'mlflow.chat.tokenUsage', 'mlflow.trace.tokenUsage')),
    });
  },
};

/** A span of DSPy is named after the method that calls a tool, whichever tool it was. */
const named = (name: string): string => (/(?:^|\.)__call__$/.test(name) ? UNNAMED : name);

/** MLflow attributes are JSON texts, even short ones: `"TOOL"`. */
const plainText = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/^"|"$/g, '') : value;

/** Genkit: a subtype, input and output as JSON. */
export const genkit: Dialect = {
  name: 'genkit',
  matches: ({ attributes }) =>
    attributes['genkit:type'] !== undefined || attributes['genkit:metadata:subtype'] !== undefined,
  read: (span) => {
    const { attributes } = span;
    const subtype = label(pick(attributes, 'genkit:metadata:subtype', 'genkit:type')) ?? '';
    const output = unpacked(attributes['genkit:output']);
    let kind: string;
    if (subtype === 'model') kind = 'LLM';
    else if (subtype === 'flow') kind = 'AGENT';
    else kind = subtype;
    return workStep(span, {
      kind,
      name: label(attributes['genkit:name']) ?? span.name,
      input: attributes['genkit:input'],
      output: subtype === 'model' ? (fields(output).message ?? output) : output,
      model: subtype === 'model' ? label(attributes['genkit:name']) : undefined,
      usage: fields(output).usage,
    });
  },
};

/** Spans without a known convention: only explicit tool names count. */
export const generic: Dialect = {
  name: 'generic',
  matches: ({ attributes }) => toolName(attributes) !== undefined,
  read: (span) => ({
    kind: 'tool',
    name: toolName(span.attributes) ?? 'unknown',
    ...fate(span),
    ...argumentsOf(
      pick(span.attributes, 'tool.arguments', 'tool.args', 'tool.input', 'function.arguments'),
    ),
    callId: label(pick(span.attributes, 'tool.call_id', 'tool.id')),
    result: resultOf(pick(span.attributes, 'tool.result', 'tool.output', 'function.result')),
  }),
};

const toolName = (attributes: Fields): string | undefined => {
  const name = pick(attributes, 'tool.name', 'tool_name', 'function.name');
  return typeof name === 'string' ? label(name) : undefined;
};

function workStep(span: Span, work: Work): Reading | undefined {
  switch (work.kind.toUpperCase()) {
    case 'LLM':
    case 'CHAT_MODEL': {
      const given = unpacked(work.input);
      const input = turnsOf(Array.isArray(given) ? given : fields(given).messages);
      const output = outputTurns(unpacked(work.output));
      return {
        kind: 'llm',
        ...fate(span),
        model: work.model,
        usage: usageOf(work.usage),
        input: input.length === 0 ? undefined : input,
        output: merged(output),
      };
    }
    case 'TOOL':
      return {
        kind: 'tool',
        name: work.name,
        ...fate(span),
        ...argumentsOf(work.input),
        result: resultOf(work.output),
      };
    case 'AGENT': {
      const asked = wordsOf(work.input);
      const said = wordsOf(work.output);
      return {
        kind: 'agent',
        name: work.name,
        ...fate(span),
        input: asked === undefined ? undefined : [turnOfText('user', asked)],
        output: said === undefined ? undefined : turnOfText('assistant', said),
      };
    }
    case 'RETRIEVER':
      return {
        kind: 'retrieval',
        documents: objects(unpacked(work.output)).map(documentOf),
        ...fate(span),
      };
    default:
      return undefined;
  }
}

function outputTurns(output: unknown) {
  if (typeof output === 'string') return [turnOfText('assistant', output)];
  const choices = objects(fields(output).choices).map(({ message }) => fields(message));
  let messages: readonly Readonly<Record<string, unknown>>[];
  if (choices.length > 0) messages = choices;
  else if (Array.isArray(output)) messages = objects(output);
  else messages = [fields(output)];
  return messages.flatMap((message) => turnsOf([{ ...message, role: 'assistant' }]));
}
