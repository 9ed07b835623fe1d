import { isFields } from '@agentci/trace';
import { messageTurns, turnOfText, turnsOf } from '../../build/messages.ts';
import {
  amount,
  argumentsOf,
  label,
  objects,
  pick,
  resultOf,
  text,
  unpacked,
} from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { llmFacts } from '../facts.ts';
import { agentOutput, exchange } from '../messages.ts';
import type { Span } from '../span.ts';
import { readGenAi } from './genai.ts';

/** Pydantic AI and Logfire: GenAI names since version 3, own attributes before. */
export const pydanticAi: Dialect = {
  name: 'pydantic-ai',
  matches: ({ scope, attributes }) =>
    scope === 'pydantic-ai' ||
    ['logfire.msg', 'logfire.json_schema', 'logfire.span_type', 'pydantic_ai.all_messages'].some(
      (key) => attributes[key] !== undefined,
    ),
  read: (span) => {
    const { attributes } = span;
    if (attributes['logfire.span_type'] === 'pending_span') return undefined;
    if (isAgent(span)) return agentOf(span);
    if (attributes.tool_arguments !== undefined || /^running tool(?!s)/.test(span.name))
      return oldTool(span);
    return attributes.events === undefined ? readGenAi(span) : oldLlm(span);
  },
};

const isAgent = ({ name, attributes }: Span): boolean =>
  attributes['pydantic_ai.all_messages'] !== undefined ||
  attributes.all_messages_events !== undefined ||
  attributes['gen_ai.operation.name'] === 'invoke_agent' ||
  name === 'agent run';

function agentOf(span: Span): Reading {
  const { attributes } = span;
  const all = turnsOf(
    unpacked(pick(attributes, 'pydantic_ai.all_messages', 'all_messages_events')),
  );
  const final = attributes.final_result;
  let said: string | undefined;
  if (typeof final === 'string') said = final;
  else if (final === undefined) said = undefined;
  else said = JSON.stringify(final);
  const end = all.findLastIndex(({ role }) => role === 'user');
  const first = all.findIndex(({ role }) => role === 'assistant');
  const input = all.slice(0, first < 0 ? end + 1 : first);
  const output = agentOutput(all.slice(input.length));
  return {
    kind: 'agent',
    name: label(pick(attributes, 'gen_ai.agent.name', 'agent_name')) ?? 'agent',
    ...fate(span),
    input: input.length === 0 ? undefined : input,
    output: said === undefined ? output : { ...output, ...turnOfText('assistant', said) },
    usage: usage(span),
    isWhole: all.some(({ role }) => role === 'assistant') ? true : undefined,
  };
}

/** Sums over the run, under names that keep them apart from a call's own. */
function usage({ attributes }: Span) {
  const input = amount(attributes['gen_ai.aggregated_usage.input_tokens']);
  const output = amount(attributes['gen_ai.aggregated_usage.output_tokens']);
  return input === undefined && output === undefined ? undefined : { input, output };
}

const oldTool = (span: Span): Reading => ({
  kind: 'tool',
  name:
    label(pick(span.attributes, 'gen_ai.tool.name', 'tool_name')) ??
    span.name.replace(/^running tool:? ?/, ''),
  ...fate(span),
  ...argumentsOf(span.attributes.tool_arguments),
  callId: label(span.attributes['gen_ai.tool.call.id']),
  result: resultOf(text(span.attributes.tool_response)),
});

/** Version 1 keeps the conventions' message events in one attribute. */
function oldLlm(span: Span): Reading {
  const events = objects(unpacked(span.attributes.events));
  const input = events
    .filter((event) => event['event.name'] !== 'gen_ai.choice')
    .flatMap((event) => messageTurns({ tool_call_id: event.id, ...event }));
  const output = events
    .filter((event) => event['event.name'] === 'gen_ai.choice')
    .flatMap(({ message }) =>
      isFields(message) ? messageTurns({ ...message, role: 'assistant' }) : [],
    );
  return {
    kind: 'llm',
    ...fate(span),
    ...llmFacts(span.attributes),
    ...exchange(input, output),
  };
}
