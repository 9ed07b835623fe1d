import { type CelVariables, NotCaptured } from '@agentci/lib/cel';
import type { Step, Trace } from '@agentci/trace';
import { finalText, finishOfAnswer, llmCalls, maskedTest } from '@agentci/trace';
import { noAnswer } from './answer.ts';
import { NOT_CAPTURED } from './calls.ts';
import type { CheckContext } from './check.ts';
import { knownCalls, outputOf, usedUp } from './run-facts.ts';

const CALL_FIELDS = ['name', 'args', 'result', 'error', 'agent', 'latency_ms'] as const;
const TRACE_FIELDS = [
  'cost_usd',
  'total_tokens',
  'input_tokens',
  'output_tokens',
  'latency_ms',
  'llm_calls',
  'tool_calls',
  'handoffs',
];

/** Variables of expressions. */
export const EXPR_VARIABLES: CelVariables = {
  answer: 'string',
  calls: { items: CALL_FIELDS },
  trace: {
    lists: { steps: ['kind', 'name', 'status', 'agent', 'latency_ms', 'triggered'] },
    fields: ['status', 'metadata', ...TRACE_FIELDS, 'models', 'agents', 'finish', 'steps'],
  },
  query: 'string',
  vars: 'map',
  output: 'dyn',
};

type Fields = Record<string, unknown>;

/** Defines a lazy field. Reading one that was not captured throws. */
function put(fields: Fields, name: string, read: () => unknown, otherwise: () => string): void {
  Object.defineProperty(fields, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      const value = read();
      if (value === undefined) throw new NotCaptured(otherwise());
      return value;
    },
  });
}

/** The variables of an expression over one run. */
export function expressionValues(context: CheckContext): Readonly<Fields> {
  const { trace, query } = context;
  const values: Fields = { vars: query?.vars ?? {} };
  put(
    values,
    'answer',
    () => finalText(trace),
    () => noAnswer(trace),
  );
  put(
    values,
    'output',
    () => outputOf(trace),
    () => noAnswer(trace),
  );
  put(
    values,
    'query',
    () => query?.query,
    () => 'the text of the query is not known',
  );
  put(
    values,
    'calls',
    () => callsOf(context),
    () => (trace.captured.toolCalls === 'none' ? NOT_CAPTURED : 'not all tool calls were captured'),
  );
  put(
    values,
    'trace',
    () => traceOf(context),
    () => '',
  );
  return values;
}

function callsOf({ trace }: CheckContext): readonly Fields[] | undefined {
  const isMasked = maskedTest(trace);
  return knownCalls(trace)?.map((facts, i) => {
    const fields: Fields = {};
    for (const name of CALL_FIELDS) {
      const value = facts[name];
      if (value !== undefined && !isMasked?.(value)) fields[name] = value;
      else
        put(
          fields,
          name,
          () => undefined,
          () => `${name} of call ${i + 1} (${facts.name}) was not captured`,
        );
    }
    return fields;
  });
}

/** Metadata of the run. Redacted values are unknown. */
function metadataOf(trace: Trace): Fields {
  const isMasked = maskedTest(trace);
  if (isMasked === undefined) return trace.meta;
  const fields: Fields = {};
  for (const [name, value] of Object.entries(trace.meta))
    put(
      fields,
      name,
      () => (isMasked(value) ? undefined : value),
      () => `${name} of the metadata had a secret in it`,
    );
  return fields;
}

/** Totals and basic facts of the run. `code` gets the whole trace. */
function traceOf(context: CheckContext): Fields {
  const { trace } = context;
  const used = usedUp(context);
  const fields: Fields = { status: trace.status, metadata: metadataOf(trace) };
  for (const name of TRACE_FIELDS)
    put(
      fields,
      name,
      () => used[name],
      () => `${name} is not known`,
    );
  const isKnown = trace.captured.llmCalls === 'full';
  put(
    fields,
    'models',
    () => (isKnown ? [...new Set(llmCalls(trace).map(({ model }) => model ?? ''))] : undefined),
    () => 'model calls were not captured',
  );
  put(
    fields,
    'agents',
    () => (trace.agents.length > 0 ? trace.agents.map(({ name }) => name) : undefined),
    () => 'agents were not captured',
  );
  put(
    fields,
    'finish',
    () => finishOfAnswer(trace).finish,
    () => 'why the model stopped was not captured',
  );
  put(
    fields,
    'steps',
    () => stepsOf(trace),
    () => 'not all steps were captured',
  );
  return fields;
}

/** The steps in order. Undefined if tool or model calls may be missing among them. */
function stepsOf(trace: Trace): readonly Fields[] | undefined {
  const { toolCalls, llmCalls: modelCalls } = trace.captured;
  if (trace.status === 'incomplete' || toolCalls !== 'full' || modelCalls !== 'full')
    return undefined;
  const agents = new Map(trace.agents.map(({ id, name }) => [id, name]));
  return trace.steps.map((step) => {
    const fields: Fields = { kind: step.kind, status: step.status };
    const { t0, t1, agent } = step;
    const known = {
      name: nameOf(step),
      agent: agent === undefined ? undefined : (agents.get(agent) ?? agent),
      latency_ms: t0 === undefined || t1 === undefined ? undefined : t1 - t0,
      triggered: step.kind === 'guardrail' ? step.triggered : undefined,
    };
    for (const [name, value] of Object.entries(known))
      put(
        fields,
        name,
        () => value,
        () => `${name} of step ${step.seq} (${step.kind}) is not known`,
      );
    return fields;
  });
}

function nameOf(step: Step): string | undefined {
  if (step.kind === 'llm') return step.model;
  if (step.kind === 'handoff') return step.to;
  return 'name' in step ? step.name : undefined;
}
