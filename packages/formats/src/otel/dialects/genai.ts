import { type Fields, isFields } from '@agentci/trace';
import { turnsOf } from '../../build/messages.ts';
import {
  argumentsOf,
  label,
  number,
  objects,
  pick,
  resultOf,
  text,
  unpacked,
} from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { costOf, genAiUsage, llmFacts } from '../facts.ts';
import { agentOutput, exchangeOf } from '../messages.ts';
import type { Span } from '../span.ts';

const LLM = new Set([
  'chat',
  'text_completion',
  'generate_content',
  'completion',
  'generate',
  'message',
]);

/** The GenAI semantic conventions, every version: attribute names by alias, content in attributes or events. */
export const genai: Dialect = {
  name: 'genai',
  matches: ({ attributes }) =>
    [
      'gen_ai.operation.name',
      'gen_ai.tool.name',
      'gen_ai.request.model',
      'gen_ai.system',
      'gen_ai.handoff.to_agent',
      'mcp.method.name',
    ].some((key) => typeof attributes[key] === 'string'),
  read: readGenAi,
};

/** The step of a GenAI span, which other dialects extend. */
export function readGenAi(span: Span): Reading | readonly Reading[] | undefined {
  const { attributes } = span;
  const named = attributes['gen_ai.operation.name'];
  const operation = typeof named === 'string' ? named.toLowerCase() : undefined;
  const method = attributes['mcp.method.name'];
  if (operation === 'execute_tool' || method === 'tools/call') return toolOf(span);
  if (typeof method === 'string') return undefined;
  if (operation === 'invoke_agent' || operation === 'invoke_workflow') return agentOf(span);
  if (operation === 'retrieval') return retrievalOf(span);
  const to = label(pick(attributes, 'gen_ai.handoff.to_agent', 'gen_ai.handoff.target'));
  if (operation === 'agent_handoff' || operation === 'handoff' || to !== undefined)
    return handoffOf(span, to);
  if (operation !== undefined ? LLM.has(operation) : isLlm(attributes)) return llmOf(span);
  // An operation outside of the conventions is still a call if it names a tool.
  return label(attributes['gen_ai.tool.name']) !== undefined ? toolOf(span) : undefined;
}

/** Instrumentations before 1.28 do not name the operation. */
const isLlm = (attributes: Fields): boolean =>
  label(attributes['gen_ai.request.model']) !== undefined &&
  attributes['gen_ai.tool.name'] === undefined;

export function llmOf(span: Span): Reading {
  return {
    kind: 'llm',
    ...fate(span),
    ...llmFacts(span.attributes),
    ...exchangeOf(span),
    agent: agentName(span),
  };
}

function toolOf(span: Span): readonly Reading[] {
  const { attributes } = span;
  const name = label(attributes['gen_ai.tool.name']) ?? nameIn(span.name) ?? 'unknown';
  const isMcp = attributes['mcp.method.name'] === 'tools/call';
  const said = exchangeOf(span);
  const result = pick(
    attributes,
    'gen_ai.tool.call.result',
    'gen_ai.tool.result',
    'gen_ai.tool.output',
  );
  const asked = said.input?.find(({ role }) => role === 'tool');
  const replied = said.output?.parts.find(({ type }) => type === 'text');
  let by: 'provider' | 'mcp' | 'client' | 'subagent' | undefined;
  if (isMcp) by = 'mcp';
  else if (attributes['gen_ai.tool.type'] === 'extension') by = 'provider';
  const step: Reading = {
    kind: 'tool',
    name,
    ...fate(span),
    ...argumentsOf(
      pick(attributes, 'gen_ai.tool.call.arguments', 'gen_ai.tool.arguments', 'gen_ai.tool.args') ??
        asked?.result,
    ),
    evidence: [isMcp ? 'mcp' : 'span'],
    callId: label(pick(attributes, 'gen_ai.tool.call.id', 'gen_ai.tool.call_id')),
    result: resultOf(result ?? (replied?.type === 'text' ? replied.text : undefined)),
    by,
    agent: agentName(span),
  };
  const to = label(attributes['gen_ai.transfer.target.name']);
  if (to === undefined) return [step];
  const mode = attributes['gen_ai.transfer.mode'] === 'return_to_caller' ? 'return' : 'pass';
  return [step, { kind: 'handoff', to, mode, status: 'ok' }];
}

/** `execute_tool NAME` and `tools/call NAME`. */
const nameIn = (name: string): string | undefined =>
  /^(?:execute_tool|tools\/call) (.+)$/.exec(name)?.[1];

function agentOf(span: Span): Reading {
  const { attributes } = span;
  const name =
    label(attributes['gen_ai.agent.name']) ??
    /^invoke_(?:agent|workflow) (.+)$/.exec(span.name)?.[1] ??
    'agent';
  const put = turnsOf(unpacked(attributes['gen_ai.output.messages']));
  const output = agentOutput(put);
  // Results among an agent's output were sent to its model, so they belong to the input.
  const told = put.filter(({ role }) => role === 'tool');
  const input = [...turnsOf(unpacked(attributes['gen_ai.input.messages'])), ...told];
  const said = input.length === 0 && output === undefined ? exchangeOf(span) : { input, output };
  return {
    kind: 'agent',
    name,
    ...fate(span),
    input: said.input?.length === 0 ? undefined : said.input,
    output: said.output,
    usage: genAiUsage(attributes),
    cost: costOf(attributes),
  };
}

/** A handoff span, as OpenAI's agents write it. */
const handoffOf = (span: Span, to: string | undefined): Reading => ({
  kind: 'handoff',
  to: to ?? 'unknown',
  mode: 'pass',
  ...fate(span),
  from: label(pick(span.attributes, 'gen_ai.handoff.from_agent', 'gen_ai.handoff.source')),
});

const agentName = ({ attributes }: Span): string | undefined =>
  label(attributes['gen_ai.agent.name']);

function retrievalOf(span: Span): Reading {
  const { attributes } = span;
  const documents = objects(unpacked(attributes['gen_ai.retrieval.documents'])).map(documentOf);
  return {
    kind: 'retrieval',
    documents,
    ...fate(span),
    query: text(pick(attributes, 'gen_ai.retrieval.query.text', 'gen_ai.retrieval.query')),
    store: label(attributes['gen_ai.data_source.id']),
  };
}

/** A document of a retrieval, in the spellings of the frameworks. */
export function documentOf(document: Fields): {
  id?: string;
  text?: string;
  score?: number;
  uri?: string;
  meta?: unknown;
} {
  const metadata = unpacked(pick(document, 'metadata', 'meta'));
  return {
    id: label(pick(document, 'id', 'document_id')),
    text: text(pick(document, 'text', 'content', 'page_content', 'pageContent')),
    score: number(document.score),
    uri: label(pick(document, 'uri', 'url', 'source')),
    meta: isFields(metadata) ? metadata : undefined,
  };
}
