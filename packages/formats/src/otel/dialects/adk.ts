import { turnOfText, turnsOf } from '../../build/messages.ts';
import { geminiUsage } from '../../build/token-usage.ts';
import { argumentsOf, fields, label, resultOf, unpacked } from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { llmFacts } from '../facts.ts';
import { merged } from '../messages.ts';
import type { Span } from '../span.ts';
import { readGenAi } from './genai.ts';

const PREFIX = 'gcp.vertex.agent.';

/** Google's Agent Development Kit: requests and replies as JSON in its own attributes. */
export const adk: Dialect = {
  name: 'adk',
  matches: ({ attributes, scope }) =>
    attributes['gen_ai.system'] === 'gcp.vertex.agent' ||
    scope === 'gcp.vertex.agent' ||
    Object.keys(attributes).some((key) => key.startsWith(PREFIX)),
  read: (span) => {
    const { attributes } = span;
    const isTool =
      attributes['gen_ai.operation.name'] === 'execute_tool' ||
      attributes[`${PREFIX}tool_call_args`] !== undefined;
    if (isTool) return toolOf(span);
    return span.name === 'call_llm' ? llmOf(span) : readGenAi(span);
  },
};

function toolOf(span: Span): Reading | readonly Reading[] | undefined {
  const { attributes } = span;
  // Parallel calls get an extra span that represents all of them.
  if (attributes['gen_ai.tool.name'] === '(merged tools)' || span.name.endsWith('(merged)'))
    return undefined;
  const args = attributes[`${PREFIX}tool_call_args`];
  const read = readGenAi(span);
  const [step] = Array.isArray(read) ? read : [read];
  if (step?.kind !== 'tool') return read;
  const response = attributes[`${PREFIX}tool_response`];
  return {
    ...step,
    ...(args === undefined ? {} : argumentsOf(args)),
    result:
      response === undefined || response === '<not specified>' ? undefined : resultOf(response),
  };
}

function llmOf(span: Span): Reading {
  const { attributes } = span;
  const request = fields(unpacked(attributes[`${PREFIX}llm_request`]));
  const response = fields(unpacked(attributes[`${PREFIX}llm_response`]));
  const config = fields(request.config);
  const facts = llmFacts(attributes);
  const input = turnsOf(request.contents);
  if (typeof config.system_instruction === 'string')
    input.unshift(turnOfText('system', config.system_instruction));
  const output = merged(
    turnsOf(response.content).map((turn) => ({ ...turn, role: 'assistant' as const })),
  );
  return {
    kind: 'llm',
    ...facts,
    ...fate(span),
    model: facts.model ?? label(response.model_version),
    usage: facts.usage ?? geminiUsage(response.usage_metadata),
    input: input.length === 0 ? undefined : input,
    output,
  };
}
