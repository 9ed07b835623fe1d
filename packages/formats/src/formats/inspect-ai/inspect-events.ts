import { type Fields, isFields } from '@agentci/trace';
import { outcomeOf } from '../../build/blocks.ts';
import type { DraftStep, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns } from '../../build/messages.ts';
import { usageOf } from '../../build/token-usage.ts';
import { amount, argumentsOf, fields, label, objects, time } from '../../build/values.ts';
import { merged } from '../../otel/messages.ts';
import type { Attachments } from './inspect-attachments.ts';

const MAX_NESTED = 64;
const MAX_MESSAGES = 10_000;

/** Messages of a sample. A result failed if `error` is present. */
export function inspectTurns(messages: unknown, attachments: Attachments): Turn[] {
  return objects(attachments.resolve(messages)).flatMap((message) => {
    const turns = messageTurns(message);
    if (message.role !== 'tool') return turns;
    return turns.map((turn) => ({
      ...turn,
      name: turn.name ?? label(message.function),
      ...failureOf(message.error),
    }));
  });
}

type Outcome = Pick<Turn, 'status' | 'error'>;

/** An operator's rejection is a denial; any other `error` is a failure. */
function failureOf(error: unknown): Outcome {
  if (error === undefined || error === null) return { status: 'ok' };
  const { type, message } = fields(error);
  return {
    status: type === 'approval' ? 'denied' : 'error',
    error: { type: label(type), message: label(message) },
  };
}

interface Context {
  readonly sample: Fields;
  readonly attachments: Attachments;
}

/** The events of a sample as steps, without the scorers' model calls. */
export function eventSteps(events: readonly Fields[], context: Context): DraftStep[] {
  const scoring = new Set<string>();
  const steps: DraftStep[] = [];
  let isScoring = false;
  const visit = (list: readonly Fields[], parent: string | undefined, depth: number): void => {
    for (const event of list) {
      const key = label(event.id);
      const within = label(event.parent_id) ?? '';
      if (
        event.event === 'span_begin' &&
        (event.type === 'scorers' || event.type === 'scorer' || scoring.has(within)) &&
        key !== undefined
      )
        scoring.add(key);
      if (event.event === 'step' && event.type === 'scorer') isScoring = event.action === 'begin';
      if (isScoring || scoring.has(label(event.span_id) ?? '')) continue;
      const step = stepOf(event, parent, context);
      if (step !== undefined) steps.push(step);
      if (depth >= MAX_NESTED) continue;
      if (event.event === 'tool') visit(objects(event.events), toolKey(event), depth + 1);
      else if (event.event === 'subtask') visit(objects(event.events), parent, depth + 1);
    }
  };
  visit(events, undefined, 0);
  return steps;
}

const toolKey = (event: Fields): string => `tool ${label(event.id) ?? ''}`;

function stepOf(
  event: Fields,
  inside: string | undefined,
  context: Context,
): DraftStep | undefined {
  const parent = label(event.event === 'span_begin' ? event.parent_id : event.span_id) ?? inside;
  const times = { t0: time(event.timestamp), t1: time(event.completed) };
  switch (event.event) {
    case 'span_begin': {
      const key = label(event.id);
      if (key === undefined) return undefined;
      const base = { key, parent, t0: times.t0 };
      return event.type === 'agent'
        ? { kind: 'agent', name: label(event.name) ?? 'agent', ...base }
        : { kind: 'span', ...base };
    }
    case 'model':
      return event.pending === true ? undefined : modelStep(event, context, { ...times, parent });
    case 'tool': {
      const { value, parts } = outcomeOf(context.attachments.resolve(event.result));
      return {
        kind: 'tool',
        key: toolKey(event),
        name: label(event.function) ?? 'unknown',
        ...argumentsOf(context.attachments.resolve(event.arguments)),
        ...times,
        parent,
        callId: label(event.id),
        result: value,
        resultParts: parts.length === 0 ? undefined : parts,
        ...(event.pending === true ? { status: 'pending' as const } : failureOf(event.error)),
      };
    }
    default:
      return undefined;
  }
}

function modelStep(
  event: Fields,
  { sample, attachments }: Context,
  base: { parent?: string; t0?: number; t1?: number },
): DraftStep {
  const output = fields(event.output);
  const [choice] = objects(output.choices);
  const input = inspectTurns(inputOf(event, sample), attachments);
  const usd = amount(fields(output.usage).total_cost);
  const failure = label(event.error) ?? label(output.error);
  return {
    kind: 'llm',
    ...base,
    input: input.length !== 0 ? input : undefined,
    output: isFields(choice?.message)
      ? merged(messageTurns(fields(attachments.resolve(choice.message))))
      : undefined,
    model: label(output.model) ?? label(event.model),
    usage: usageOf(output.usage),
    cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    finish: finishOf(choice?.stop_reason),
    ...(failure === undefined
      ? { status: 'ok' as const }
      : { status: 'error' as const, error: { message: failure } }),
  };
}

/** Long logs keep each message once, in a pool, and name ranges of it. */
function inputOf(event: Fields, sample: Fields): unknown {
  if (!Array.isArray(event.input_refs)) return event.input;
  const pool = sample.message_pool ?? fields(sample.events_data).messages;
  if (!Array.isArray(pool)) return event.input;
  const messages: unknown[] = [];
  for (const range of event.input_refs) {
    const [from, to] = Array.isArray(range) ? range : [];
    if (typeof from !== 'number' || typeof to !== 'number') continue;
    for (const message of pool.slice(from, to)) messages.push(message);
    // Ranges are short to write and long to read.
    if (messages.length > MAX_MESSAGES) break;
  }
  return messages;
}
