import type { Failure, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { outcomeOf } from '../../build/blocks.ts';
import type { DraftStep, Turn } from '../../build/draft.ts';
import {
  langchainFinish,
  langchainMessage,
  langchainModel,
  langchainUsage,
} from '../../build/langchain.ts';
import { messageTurns, turnOfText, turnsOf } from '../../build/messages.ts';
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
} from '../../build/values.ts';
import { documentOf } from '../../otel/dialects/genai.ts';
import { merged } from '../../otel/messages.ts';
import { graphAgent } from './graph-node.ts';

/** A run of LangChain: of LangSmith, or put together from stream events. */
export interface LangchainRun {
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly type: string;
  readonly metadata: Fields;
  readonly inputs: unknown;
  readonly outputs: unknown;
  readonly error: unknown;
  readonly extra?: Fields;
  readonly t0?: number | undefined;
  readonly t1?: number | undefined;
  readonly cost?: unknown;
  /** Tokens that are counted on the run itself. */
  readonly usage?: Usage | undefined;
}

/** Token counts on an exported run. Counters of 0 were never used. */
export function runUsage(run: Fields): Usage | undefined {
  const usage = usageOf(run);
  return usage !== undefined && Object.values(usage).some((count) => count > 0) ? usage : undefined;
}

const CONTROL_FLOW = /(?:^|\n)\s*(?:ParentCommand|GraphInterrupt|GraphBubbleUp|NodeInterrupt)\b/;

/** LangGraph leaves a node by throwing, which is not a failure. */
export const isControlFlow = (error: unknown): boolean =>
  typeof error === 'string' && CONTROL_FLOW.test(error);

function failure(error: unknown): Failure | undefined {
  if (error === undefined || error === null || error === '' || isControlFlow(error))
    return undefined;
  if (isFields(error)) return { message: label(error.message), type: label(error.name) };
  const said = text(error) ?? '';
  const [message, ...rest] = said.split('\n\n');
  return {
    message: message ?? said,
    stack: rest.length === 0 ? undefined : rest.join('\n\n'),
  };
}

export function runStep(run: LangchainRun): DraftStep {
  const error = failure(run.error);
  const base = {
    key: run.id,
    parent: run.parent,
    t0: run.t0,
    t1: run.t1,
    agent: graphAgent(run.metadata),
    error,
    status: error === undefined ? ('ok' as const) : ('error' as const),
  };
  switch (run.type) {
    case 'llm':
      return { ...base, ...llmStep(run) };
    case 'tool':
      return { ...base, ...toolStep(run) };
    case 'retriever': {
      const documents = Array.isArray(run.outputs)
        ? run.outputs
        : pick(fields(run.outputs), 'documents', 'output');
      return {
        ...base,
        kind: 'retrieval',
        documents: objects(documents).map((item) => documentOf(fields(item.kwargs ?? item))),
        query: queryOf(run.inputs),
      };
    }
    default:
      return { ...base, kind: 'span' };
  }
}

const queryOf = (inputs: unknown): string | undefined =>
  text(typeof inputs === 'string' ? inputs : pick(fields(inputs), 'query', 'input', 'question'));

function llmStep(run: LangchainRun) {
  const { metadata } = run;
  const message = replyOf(run.outputs);
  const input = inputOf(run.inputs);
  const usd = amount(run.cost);
  const outputs = fields(run.outputs);
  const llmOutput = fields(pick(outputs, 'llm_output', 'llmOutput'));
  const usage =
    usageOf(message === undefined ? undefined : langchainUsage(message)) ??
    usageOf(pick(llmOutput, 'token_usage', 'tokenUsage')) ??
    usageOf(pick(outputs, 'usage_metadata', 'usage')) ??
    run.usage;
  return {
    kind: 'llm' as const,
    model:
      label(message === undefined ? undefined : langchainModel(message)) ??
      label(metadata.ls_model_name) ??
      label(fields(fields(run.extra).invocation_params).model),
    provider: label(metadata.ls_provider),
    usage,
    cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    input: input.length === 0 ? undefined : input,
    output:
      message === undefined
        ? textReply(outputs)
        : merged(messageTurns({ ...message, role: 'assistant' })),
    finish: finishIn(run.outputs, message),
  };
}

/** Why a reply ended, from its message, generation or choice. */
function finishIn(outputs: unknown, message: Fields | undefined) {
  const { generations, choices } = fields(outputs);
  const generation = Array.isArray(generations) ? fields(generations.flat()[0]) : {};
  const info = fields(pick(generation, 'generation_info', 'generationInfo'));
  const [choice] = objects(choices);
  const said = [message ?? {}, { response_metadata: info }, { response_metadata: choice }].map(
    langchainFinish,
  );
  return said.includes('tool_calls')
    ? ('tool_calls' as const)
    : said.find((finish) => finish !== undefined);
}

/** The message of a reply: a generation's, a chat completion's, or the output itself. */
function replyOf(outputs: unknown): Fields | undefined {
  if (!isFields(outputs)) return undefined;
  const generation = Array.isArray(outputs.generations)
    ? fields(outputs.generations.flat()[0])
    : undefined;
  const [choice] = objects(outputs.choices);
  return (
    langchainMessage(generation?.message) ??
    langchainMessage(outputs) ??
    (isFields(outputs.message)
      ? (langchainMessage(outputs.message) ?? outputs.message)
      : undefined) ??
    (isFields(choice?.message) ? choice.message : undefined) ??
    (outputs.role === 'assistant' ? outputs : undefined) ??
    langchainMessage(outputs.output)
  );
}

function textReply(outputs: Fields): Turn | undefined {
  const generation = Array.isArray(outputs.generations)
    ? fields(outputs.generations.flat()[0])
    : {};
  const said = text(generation.text ?? outputs.output ?? outputs.content);
  return said === undefined ? undefined : turnOfText('assistant', said);
}

function inputOf(inputs: unknown): Turn[] {
  const given = fields(inputs);
  const list = pick(given, 'messages', 'input', 'prompts');
  if (Array.isArray(list)) return turnsOf(list.flat());
  return typeof list === 'string' ? [turnOfText('user', list)] : [];
}

/**
 * Inputs are the arguments; older releases print them into `input`. The output is a tool message, a
 * command or a value.
 */
function toolStep(run: LangchainRun) {
  const given = fields(run.inputs);
  const printed =
    Object.keys(given).length === 1 && typeof given.input === 'string' ? given.input : undefined;
  const output =
    isFields(run.outputs) && 'output' in run.outputs && Object.keys(run.outputs).length <= 2
      ? run.outputs.output
      : run.outputs;
  const message = langchainMessage(output) ?? commandMessage(output);
  const failed = message?.status === 'error';
  const value = message === undefined ? output : message.content;
  let result: unknown;
  if (Array.isArray(value)) result = outcomeOf(value).value;
  else if (value !== undefined && value !== null) result = resultOf(value);
  let outcome = {};
  if (failed)
    outcome = { status: 'error', error: { message: typeof value === 'string' ? value : '' } };
  return {
    kind: 'tool' as const,
    name: run.name,
    ...argumentsOf(printed ?? (run.inputs === undefined ? undefined : given)),
    callId: label(fields(run.extra).tool_call_id) ?? label(message?.tool_call_id),
    result,
    ...outcome,
  };
}

/** A command goes to another node, with the tool message among its updates. */
function commandMessage(output: unknown): Fields | undefined {
  const update = fields(fields(output).update);
  return Array.isArray(update.messages)
    ? update.messages.map(langchainMessage).findLast((message) => message?.role === 'tool')
    : undefined;
}
