import { isObject } from '@agentci/lib/data';
import { answerOfTurn, contextOf, finalText } from '@agentci/trace';
import type { MetricCase, MetricInput } from './metric.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A value as text: a list has one item per line, an object is JSON. Undefined for no value. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map((item) => textOf(item) ?? '').join('\n');
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

const AGENT_RESULT_KEYS = ['output', 'success', 'error', 'tool_calls', 'metrics', 'cost', 'usage'];

/** The outcome's fields, if it is an agent's result and not the answer itself. */
export function outcomeFields({ outcome }: MetricInput): Fields {
  return isObject(outcome) && AGENT_RESULT_KEYS.some((key) => Object.hasOwn(outcome, key))
    ? outcome
    : {};
}

/** The answer: the outcome's, else the final text of the trace. */
export function answerOf(input: MetricInput): string | undefined {
  const { outcome, trace } = input;
  const fields = outcomeFields(input);
  const isResult = Object.keys(fields).length > 0;
  return (
    (isResult ? textOf(fields.output) : textOf(outcome)) ?? (trace ? finalText(trace) : undefined)
  );
}

/** One answer of the agent, with its turn in a conversation. */
export interface AnswerText {
  readonly text: string;
  readonly turn?: number;
}

/**
 * Every answer of the run, for metrics about forbidden content, which also counts in earlier turns.
 * `missing` says why an answer is unknown.
 */
export function answersOf(input: MetricInput): {
  readonly answers: readonly AnswerText[];
  readonly missing?: string;
} {
  const { outcome, trace } = input;
  const turns = trace?.conversation?.turns ?? [];
  if ((outcome !== undefined && outcome !== null) || turns.length < 2) {
    const text = answerOf(input);
    return text === undefined
      ? { answers: [], missing: 'no answer captured' }
      : { answers: [{ text }] };
  }
  const hasEnded = trace?.conversation?.ending === 'agent_done';
  const answers: AnswerText[] = [];
  const open: number[] = [];
  for (const each of turns) {
    const text = answerOfTurn(each);
    if (text !== undefined) answers.push({ text, turn: each.turn });
    // A call that ends a conversation may be the agent's last message.
    else if (!hasEnded || each !== turns.at(-1)) open.push(each.turn);
  }
  return open.length === 0
    ? { answers }
    : { answers, missing: `the answer of turn ${open[0]} was not captured` };
}

/**
 * The texts an answer should be grounded in: the case's, else the captured ones. Skips blank texts.
 */
export function contextsOf(input: MetricInput): string[] {
  const given = input.case?.context;
  const texts = Array.isArray(given) ? given : ((input.trace && contextOf(input.trace)) ?? []);
  return texts.filter((text): text is string => typeof text === 'string' && text.trim() !== '');
}

export const caseOf = (input: MetricInput): MetricCase => input.case ?? {};
export const metadataOf = (input: MetricInput): Fields => {
  const { metadata } = caseOf(input);
  return isObject(metadata) ? metadata : {};
};

/** A field of untrusted metadata, never an inherited one. */
export const ownField = (fields: Fields, key: string): unknown =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

export const expectedOf = (input: MetricInput): string | undefined =>
  textOf(caseOf(input).expected_output);

export const clamp01 = (value: number): number => Math.min(1, Math.max(0, value));

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
