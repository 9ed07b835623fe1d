import type { Cost, Failure, LlmStep, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { outcomeOf } from '../build/blocks.ts';
import type { Turn } from '../build/draft.ts';
import { finishOf } from '../build/finish.ts';
import { turnOfText, turnsOf } from '../build/messages.ts';
import { isResponseItem, itemTurns } from '../build/response-items.ts';
import { usageOf } from '../build/token-usage.ts';
import { amount, argumentsOf, objects, pick, resultOf, unpacked } from '../build/values.ts';
import type { Reading } from './dialect.ts';
import { documentOf } from './dialects/genai.ts';
import { anyTurns, merged, wordsOf } from './messages.ts';

/** An observation of Langfuse, from its export or from its spans. */
export interface Observation {
  readonly type: string;
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly model: string | undefined;
  readonly usage: Fields;
  readonly cost: Fields;
  readonly fate: { readonly status?: 'ok' | 'error'; readonly error?: Failure };
}

/** The step of an observation. Undefined for spans and chains that only contain others. */
export function observationStep(observation: Observation): Reading | undefined {
  const { name, fate } = observation;
  switch (observation.type.toUpperCase()) {
    case 'GENERATION':
      return {
        kind: 'llm',
        ...fate,
        model: observation.model,
        usage: usageDetails(observation.usage),
        cost: costDetails(observation.cost),
        input: inputTurns(observation.input),
        output: outputTurn(observation.output),
        finish: finishIn(unpacked(observation.output)),
      };
    case 'TOOL':
      return toolStep(observation);
    case 'AGENT':
      return {
        kind: 'agent',
        name,
        ...fate,
        input: inputTurns(observation.input),
        output: saidBy(observation.output),
      };
    case 'RETRIEVER':
      return {
        kind: 'retrieval',
        documents: objects(documentsIn(unpacked(observation.output))).map(documentOf),
        ...fate,
        query: wordsOf(observation.input),
      };
    case 'GUARDRAIL':
      return { kind: 'guardrail', name, triggered: fate.status === 'error', ...fate };
    default:
      return undefined;
  }
}

/** A tool call: LangChain keeps the whole tool message as the output. */
export function toolStep({ name, input, output, fate }: Observation): Reading {
  const message = unpacked(output);
  let kwargs: Readonly<Record<string, unknown>>;
  if (isFields(message)) kwargs = isFields(message.kwargs) ? message.kwargs : message;
  else kwargs = {};
  const isMessage = typeof kwargs.tool_call_id === 'string';
  const failed = isMessage && kwargs.status === 'error';
  const given = unpacked(input);
  // Some writers put the arguments under `input`, and results in the blocks of MCP. A text there is an argument of that name.
  const wrapped = isFields(given) && Object.keys(given).length === 1 ? given.input : undefined;
  const inner = isFields(unpacked(wrapped)) ? wrapped : given;
  let result: unknown;
  if (output === null) result = undefined;
  else if (isMessage) result = resultOf(kwargs.content);
  else if (isFields(message) && Array.isArray(message.content))
    result = outcomeOf(message.content).value;
  else result = resultOf(output);
  return {
    kind: 'tool',
    name,
    ...fate,
    status: failed ? ('error' as const) : fate.status,
    ...argumentsOf(inner),
    callId: isMessage ? (kwargs.tool_call_id as string) : undefined,
    result,
  };
}

/** LangChain's tool output names its call, whatever the type of the observation. */
export function isToolMessage(output: unknown): boolean {
  const message = unpacked(output);
  if (!isFields(message)) return false;
  const kwargs = isFields(message.kwargs) ? message.kwargs : message;
  return typeof kwargs.tool_call_id === 'string' && kwargs.tool_call_id !== '';
}

const documentsIn = (output: unknown): unknown =>
  isFields(output) ? pick(output, 'documents', 'output') : output;

/** Messages in the framework's wrapping. Any other input is the question. */
export function inputTurns(value: unknown): Turn[] | undefined {
  const given = unpacked(value);
  let list: unknown;
  if (Array.isArray(given)) list = given;
  else if (isFields(given)) list = pick(given, 'messages', 'contents', 'input');
  else list = undefined;
  const turns = Array.isArray(list) && list.some(isFields) ? anyTurns(list.flat()) : [];
  if (turns.length > 0) return turns;
  const words = wordsOf(given);
  return words === undefined ? undefined : [turnOfText('user', words)];
}

/** Why a reply ended, if the provider's response was kept. */
function finishIn(output: unknown): LlmStep['finish'] | undefined {
  if (!isFields(output)) return undefined;
  const [choice] = [...objects(output.choices), ...objects(output.candidates)];
  return finishOf(pick(choice ?? output, 'finish_reason', 'finishReason', 'stop_reason'));
}

function outputTurn(value: unknown): Turn | undefined {
  const given = unpacked(value);
  // Python prints a content that is not there.
  if (given === 'None') return undefined;
  if (typeof given === 'string') return turnOfText('assistant', given);
  if (isFields(given) && given.object === 'response')
    return merged(itemTurns(objects(given.output)));
  if (Array.isArray(given) && given.some(isResponseItem)) return merged(itemTurns(given));
  let list: unknown;
  if (Array.isArray(given)) list = given;
  else if (isFields(given)) list = pick(given, 'messages', 'choices', 'candidates') ?? [given];
  else list = [];
  const messages = objects(list).map((item) => {
    if (isFields(item.message)) return item.message;
    if (isFields(item.content)) return item.content;
    return item;
  });
  const turns = messages.flatMap((message) => turnsOf([{ ...message, role: 'assistant' }]));
  return merged(turns);
}

function saidBy(value: unknown): Turn | undefined {
  const words = wordsOf(value);
  return words === undefined ? undefined : turnOfText('assistant', words);
}

/** Details may be additional to the counts or part of them, and the total decides. */
export function usageDetails(details: Fields): Usage | undefined {
  const usage = usageOf(details);
  if (usage?.input === undefined || usage.output === undefined || usage.total === undefined)
    return usage;
  if (usage.input + usage.output === usage.total) return usage;
  const apart = (prefix: string): number =>
    Object.entries(details).reduce(
      (sum, [key, value]) =>
        sum + (key.startsWith(prefix) && !TOKENS.test(key) ? (amount(value) ?? 0) : 0),
      0,
    );
  const input = usage.input + apart('input_');
  const output = usage.output + apart('output_');
  return input + output === usage.total ? { ...usage, input, output } : usage;
}
const TOKENS = /^(?:in|out)put_tokens$/;

/** Only a total counts: parts alone may be all or some of it. */
export function costDetails(details: Fields): Cost | undefined {
  const usd = amount(details.total);
  return usd === undefined ? undefined : { usd, source: 'reported' };
}
