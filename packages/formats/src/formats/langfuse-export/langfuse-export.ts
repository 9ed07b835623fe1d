import { defined } from '@agentci/lib/data';
import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { plainMessage } from '../../build/answer.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, DraftStep, GapNote } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { mentionsIn } from '../../build/mentions.ts';
import { TRACING_RECORD } from '../../build/records.ts';
import { undecorated } from '../../build/span-name.ts';
import { amount, fields, label, objects, pick, time, unpacked } from '../../build/values.ts';
import { wordsOf } from '../../otel/messages.ts';
import {
  inputTurns,
  isToolMessage,
  type Observation,
  observationStep,
  toolStep,
} from '../../otel/observation.ts';

const FORMAT = 'langfuse-export';
const TYPES = new Set([
  'SPAN',
  'EVENT',
  'GENERATION',
  'AGENT',
  'TOOL',
  'CHAIN',
  'RETRIEVER',
  'EVALUATOR',
  'EMBEDDING',
  'GUARDRAIL',
]);

/** Traces exported from Langfuse: observations in any order, inputs and outputs often JSON in text. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Langfuse exports: {trace, observations}, or a trace with its observations',
  unit: 'record',
  detect: (sample) => worst(sample, likeness),
  read: (records) =>
    records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value)))),
};

function likeness(value: unknown): number {
  if (!isFields(value) || !Array.isArray(value.observations)) return 0;
  const list = objects(value.observations).slice(0, 20);
  if (list.length === 0) return isFields(value.trace) ? 0.6 : 0;
  return list.every(({ type }) => typeof type === 'string' && TYPES.has(type)) ? 0.97 : 0;
}

function draftOf(value: Fields): Draft {
  const trace = isFields(value.trace) ? value.trace : value;
  const observations = objects(value.observations).toSorted(
    (a, b) => (time(a.startTime) ?? 0) - (time(b.startTime) ?? 0),
  );
  const called = new Set(observations.flatMap(callNames));
  const input = inputTurns(trace.input)?.map(plainMessage);
  const words =
    trace.output === undefined || trace.output === null ? undefined : wordsOf(trace.output);
  const seconds = amount(trace.latency);
  const usd = amount(trace.totalCost);
  const outcomes = outcomesOf(trace.scores);
  const steps = observations.map((observation) => stepOf(observation, called));
  return {
    id: label(trace.id),
    outcomes: outcomes.length === 0 ? undefined : outcomes,
    source: { format: FORMAT },
    steps,
    task: input === undefined ? undefined : { input },
    final: words === undefined ? undefined : { text: words },
    reported: {
      durationMs: seconds === undefined || seconds === 0 ? undefined : seconds * 1000,
      cost: usd === undefined || usd === 0 ? undefined : { usd, source: 'reported' as const },
    },
    mentions: [
      trace.output,
      ...observations.filter(({ type }) => type !== 'TOOL').map(({ output }) => output),
    ].flatMap(mentionsIn),
    records: TRACING_RECORD,
    gaps: [...absentParents(observations, label(trace.id)), ...likelyCalls(observations, steps)],
    meta: {
      name: label(trace.name),
      session: label(trace.sessionId),
      user: label(trace.userId),
    },
  };
}

/**
 * An export has the whole trace, so a missing parent was lost, unless everything is below one span
 * of another program.
 */
function absentParents(observations: readonly Fields[], root: string | undefined): GapNote[] {
  const known = new Set([root, ...observations.map(({ id }) => label(id))]);
  const tops = observations.filter((item) => !known.has(label(item.parentObservationId) ?? root));
  const [top] = tops;
  const isRoot =
    tops.length === 1 &&
    observations.length > 1 &&
    top!.type !== 'GENERATION' &&
    top!.type !== 'TOOL';
  const hasOther = observations.some((item) =>
    [undefined, root].includes(label(item.parentObservationId)),
  );
  if (top === undefined || (isRoot && !hasOther)) return [];
  return [{ gap: 'absentParent', detail: (label(top.parentObservationId) ?? '').slice(0, 80) }];
}

/** If no observation has a tool type, a traced function with input and output may be a tool. */
function likelyCalls(observations: readonly Fields[], steps: readonly DraftStep[]): GapNote[] {
  if (steps.some(({ kind }) => kind === 'tool')) return [];
  const parents = new Set(observations.map((item) => label(item.parentObservationId)));
  const likely = observations.find(
    (item, i) =>
      WORK.has(String(item.type)) &&
      steps[i]!.kind === 'span' &&
      !parents.has(label(item.id)) &&
      isGiven(item.input) &&
      (isGiven(item.output) ||
        (item.type === 'SPAN' && isFields(item.input) && item.output === null)) &&
      !(item.type === 'CHAIN' && PLUMBING.test(label(item.name) ?? '')),
  );
  return likely === undefined
    ? []
    : [{ gap: 'unknownStep', detail: (label(likely.name) ?? 'a span').slice(0, 80) }];
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Generic types that only say that something ran. */
const WORK = new Set(['SPAN', 'EVENT', 'CHAIN']);
/** Internal spans of LangChain and LangGraph. */
const PLUMBING =
  /^(?:Runnable|Channel|Lambda|LangGraph|__|_write|should_|route|branch|tools_condition)|(?:Prompt|PromptTemplate|Parser|Chain|Sequence|Template)$/i;

/**
 * Frameworks without a tool type write spans, so a span named like a requested tool is its call.
 */
function stepOf(item: Fields, called: ReadonlySet<string>): DraftStep {
  const observation = observationOf(item);
  const isPlain = observation.type === 'SPAN' || observation.type === 'CHAIN';
  const attributes = fields(unpacked(fields(unpacked(item.metadata)).attributes));
  const tool = isPlain ? (label(attributes['gen_ai.tool.name']) ?? saidTool(item)) : undefined;
  const isCalled = called.has(undecorated(observation.name)) || isToolMessage(observation.output);
  const isCall = tool !== undefined || (isPlain && isCalled);
  const callId = label(attributes['gen_ai.tool.call.id']);
  const step = isCall
    ? { callId, ...defined(toolStep({ ...observation, name: tool ?? observation.name })) }
    : observationStep(observation);
  const place = {
    key: label(item.id),
    parent: label(item.parentObservationId),
    t0: time(item.startTime),
    t1: time(item.endTime),
  };
  return { ...(step ?? { kind: 'span' }), ...place } as DraftStep;
}

/** A span whose metadata names it as a tool. */
function saidTool(item: Fields): string | undefined {
  const metadata = fields(unpacked(item.metadata));
  const kind = label(pick(metadata, 'kind', 'type', 'span_type', 'category'));
  if (kind === undefined || !/^(?:tool|tool_?call|function_?call)$/i.test(kind)) return undefined;
  return label(pick(metadata, 'tool', 'tool_name', 'toolName')) ?? label(item.name);
}

function observationOf(item: Fields): Observation {
  const isError = item.level === 'ERROR';
  const cost = fields(item.costDetails);
  return {
    type: label(item.type) ?? 'SPAN',
    name: label(item.name) ?? 'unknown',
    input: item.input,
    output: item.output,
    model: label(pick(item, 'model', 'providedModelName')),
    usage: fields(pick(item, 'usageDetails', 'usage')),
    cost:
      amount(cost.total) === undefined && amount(item.totalCost) ? { total: item.totalCost } : cost,
    fate: isError
      ? { status: 'error', error: { message: label(item.statusMessage) ?? '' } }
      : { status: 'ok' },
  };
}

const MAX_NAMES = 1000;

/** Names of the tools a generation asks for, in the shapes of the providers. */
function callNames(item: Fields): string[] {
  if (item.type !== 'GENERATION') return [];
  const names = Array.isArray(item.toolCallNames)
    ? item.toolCallNames.flatMap((name) => label(name) ?? [])
    : [];
  const read = observationStep(observationOf(item));
  const calls = read?.kind === 'llm' ? (read.output?.calls ?? []) : [];
  return [...names, ...calls.map(({ name }) => name)].slice(0, MAX_NAMES);
}

const outcomesOf = (scores: unknown): NonNullable<Trace['outcomes']> =>
  objects(scores).flatMap((score) => {
    const name = label(score.name);
    const value = pick(score, 'value', 'stringValue');
    const isPlain =
      typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean';
    return name === undefined || !isPlain ? [] : [{ name, value, by: label(score.source) }];
  });
