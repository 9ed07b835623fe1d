import { issueMessage, leafIssues, pathText, v, valueIssues } from '@agentci/lib/values';
import { nothingCaptured } from './captured.ts';
import { CAPABILITIES, ENDINGS, TRACE_SCHEMA, type Trace } from './model.ts';
import type { TraceIssue } from './trace-error.ts';

/** Size limits of a trace, so that one recording cannot exhaust the reader. */
export const TRACE_LIMITS = {
  steps: 100_000,
  agents: 10_000,
  turns: 10_000,
  textLength: 16_777_216,
  problems: 20,
} as const;

const text = v.string().max(TRACE_LIMITS.textLength);
const amount = v.number().min(0);
/** Any map. Its keys are not checked. */
const bag = v.looseObject({});

const part = v.union([
  v.looseObject({ type: v.literal('text'), text }),
  v.looseObject({ type: v.literal('reasoning'), text }),
  v.looseObject({ type: v.literal('json'), data: v.unknown() }),
  v.looseObject({
    type: v.literal('media'),
    modality: v.enum(['image', 'audio', 'video', 'document']),
    mime: text.optional(),
    uri: text.optional(),
    blob: text.optional(),
    bytes: amount.optional(),
    transcript: text.optional(),
  }),
]);

const message = v.looseObject({
  role: v.enum(['system', 'user', 'assistant', 'tool']),
  name: text.optional(),
  parts: v.array(part),
  calls: v
    .array(v.looseObject({ id: text.optional(), name: text, args: v.unknown().optional() }))
    .optional(),
  callId: text.optional(),
});

const usage = v.looseObject({
  input: amount.optional(),
  output: amount.optional(),
  cacheRead: amount.optional(),
  cacheWrite: amount.optional(),
  reasoning: amount.optional(),
  audioIn: amount.optional(),
  audioOut: amount.optional(),
  total: amount.optional(),
});

const cost = v.looseObject({
  usd: amount,
  source: v.enum(['reported', 'computed']),
  prices: text.optional(),
});

const failure = v.looseObject({
  type: text.optional(),
  message: text.optional(),
  code: v.union([text, v.number()]).optional(),
  stack: text.optional(),
  retryable: v.boolean().optional(),
});

const finish = v.enum(['stop', 'tool_calls', 'length', 'content_filter', 'error', 'other']);

const stepBase = {
  id: text,
  seq: v.number().int(),
  parent: text.optional(),
  agent: text.optional(),
  turn: v.number().int().optional(),
  userTurn: v.number().int().min(1).optional(),
  t0: v.number().optional(),
  t1: v.number().optional(),
  timing: v.enum(['measured', 'estimated']).optional(),
  status: v.enum(['ok', 'error', 'denied', 'cancelled', 'pending', 'unknown']),
  error: failure.optional(),
  raw: v.looseObject({ spanId: text.optional(), ref: text.optional() }).optional(),
  meta: bag.optional(),
};

const step = v.union([
  v.looseObject({
    ...stepBase,
    kind: v.literal('llm'),
    provider: text.optional(),
    model: text.optional(),
    requestModel: text.optional(),
    input: v.array(message).optional(),
    inputIsDelta: v.boolean().optional(),
    output: message.optional(),
    finish: finish.optional(),
    usage: usage.optional(),
    cost: cost.optional(),
    ttftMs: amount.optional(),
    cacheHit: v.boolean().optional(),
    params: bag.optional(),
    responseId: text.optional(),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('tool'),
    callId: text.optional(),
    name: text.min(1),
    rawName: text.optional(),
    server: text.optional(),
    args: v.unknown().optional(),
    argsRaw: text.optional(),
    result: v.unknown().optional(),
    resultParts: v.array(part).optional(),
    by: v.enum(['client', 'provider', 'mcp', 'subagent']),
    actor: v.enum(['assistant', 'user', 'program']).optional(),
    attempt: v.number().int().optional(),
    evidence: v.array(v.enum(['span', 'message', 'proxy', 'mcp'])),
    requestedBy: text.optional(),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('agent'),
    name: text,
    input: v.array(message).optional(),
    output: message.optional(),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('handoff'),
    from: text,
    to: text,
    mode: v.enum(['pass', 'return', 'unknown']),
    via: text.optional(),
    reason: text.optional(),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('message'),
    from: text,
    to: v.union([text, v.array(text)]),
    type: v
      .enum(['request', 'response', 'notify', 'delegate', 'negotiate', 'collaborate', 'conflict'])
      .optional(),
    messageType: text.optional(),
    responseMs: amount.optional(),
    content: v.array(part),
    replyTo: text.optional(),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('retrieval'),
    query: text.optional(),
    store: text.optional(),
    documents: v.array(
      v.looseObject({
        id: text.optional(),
        text: text.optional(),
        score: v.number().optional(),
        uri: text.optional(),
        meta: v.unknown().optional(),
      }),
    ),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('guardrail'),
    name: text,
    triggered: v.boolean(),
    stage: v.enum(['input', 'output', 'tool']).optional(),
  }),
  v.looseObject({
    ...stepBase,
    kind: v.literal('event'),
    name: text,
    data: v.unknown().optional(),
  }),
]);

const agent = v.looseObject({
  id: text,
  name: text,
  role: text.optional(),
  model: text.optional(),
  parent: text.optional(),
  tools: v.array(text).optional(),
  canHandOffTo: v.array(text).optional(),
  kind: v.enum(['agent', 'workflow', 'user', 'remote']).optional(),
  authorityLevel: v.number().optional(),
  canDelegate: v.boolean().optional(),
});

const resource = v.looseObject({
  t: v.number(),
  durationMs: amount.optional(),
  cpuPct: v.number().optional(),
  rssMb: v.number().optional(),
  gpuPct: v.number().optional(),
  gpuMb: v.number().optional(),
  joules: v.number().optional(),
  co2g: v.number().optional(),
  source: v.enum(['measured', 'estimated']),
  agent: text.optional(),
  step: text.optional(),
});

const level = v.enum(['full', 'partial', 'none']).optional();

const final = v.looseObject({
  text: text.optional(),
  data: v.unknown().optional(),
  parts: v.array(part).optional(),
  agent: text.optional(),
  step: text.optional(),
  finish: finish.optional(),
});

const reported = v.looseObject({
  usage: usage.optional(),
  cost: cost.optional(),
  durationMs: amount.optional(),
  turns: amount.optional(),
  llmCalls: amount.optional(),
  ttftMs: amount.optional(),
  wallMs: amount.optional(),
  coldStartMs: amount.optional(),
});

const captured = v.looseObject(
  Object.fromEntries(CAPABILITIES.map((capability) => [capability, level])),
);

const conversation = v.looseObject({
  id: text.optional(),
  ending: v.enum([...ENDINGS]).optional(),
  turns: v
    .array(
      v.looseObject({
        turn: v.number().int().min(1),
        message: text,
        final: final.optional(),
        reported: reported.optional(),
        captured: captured.optional(),
      }),
    )
    .max(TRACE_LIMITS.turns),
  fault: v
    .looseObject({
      kind: v.enum(['script', 'simulator']),
      message: text,
      turn: v.number().int().optional(),
      unavailable: v.literal(true).optional(),
    })
    .optional(),
});

/**
 * The trace model as a schema. It allows unknown fields, so that a newer writer does not break
 * older readers.
 */
export const traceSchema = v.looseObject({
  schema: v.literal(TRACE_SCHEMA),
  id: text.min(1),
  source: v.looseObject({
    format: text,
    dialects: v.array(text).optional(),
    version: text.optional(),
    sdk: text.optional(),
    traceIds: v.array(text).optional(),
    sha256: text.optional(),
    file: text.optional(),
    line: v.number().int().optional(),
  }),
  task: v
    .looseObject({
      id: text.optional(),
      input: v.array(message).optional(),
      expected: v.unknown().optional(),
    })
    .optional(),
  startedAt: v.number().optional(),
  endedAt: v.number().optional(),
  status: v.enum(['ok', 'error', 'incomplete', 'unknown']),
  error: failure.optional(),
  final: final.optional(),
  agents: v.array(agent).max(TRACE_LIMITS.agents),
  steps: v.array(step).max(TRACE_LIMITS.steps),
  tools: v
    .array(
      v.looseObject({
        name: text,
        description: text.optional(),
        schema: v.unknown().optional(),
        server: text.optional(),
      }),
    )
    .optional(),
  reported: reported.optional(),
  outcomes: v
    .array(
      v.looseObject({
        name: text,
        value: v.union([v.number(), v.boolean(), text]),
        by: text.optional(),
      }),
    )
    .optional(),
  resources: v.array(resource).optional(),
  meta: bag,
  conversation: conversation.optional(),
  endState: v
    .union([v.looseObject({ value: v.unknown() }), v.looseObject({ error: text })])
    .optional(),
  captured,
  masked: v.array(text).optional(),
  warnings: v.array(v.looseObject({ code: text, message: text, step: text.optional() })),
});

/**
 * Checks a value against the trace model and reports every problem with its path. Returns the value
 * itself, unknown fields included.
 */
export function validateTrace(
  value: unknown,
):
  | { readonly ok: true; readonly trace: Trace }
  | { readonly ok: false; readonly issues: readonly TraceIssue[] } {
  const wrong = valueIssues(traceSchema, value).flatMap(leafIssues);
  if (wrong.length > 0) {
    const issues = wrong.slice(0, TRACE_LIMITS.problems).map((issue) => {
      const path = pathText(issue.path);
      const message = issueMessage(issue, traceSchema, value);
      return {
        code: 'TRACE_BAD_FIELD',
        message: `${path === '' ? 'the trace' : `"${path}"`} ${message}`,
        path,
      };
    });
    return { ok: false, issues };
  }
  const trace = value as Trace;
  const disorder = firstDisorder(trace);
  if (disorder !== undefined) return { ok: false, issues: [disorder] };
  // A writer that knows fewer capabilities did not capture the others.
  return {
    ok: true,
    trace: isComplete(trace)
      ? trace
      : { ...trace, captured: { ...nothingCaptured(), ...trace.captured } },
  };
}

const isComplete = (trace: Trace): boolean =>
  CAPABILITIES.every((capability) => trace.captured[capability] !== undefined);

function firstDisorder({ steps }: Trace): TraceIssue | undefined {
  for (let i = 1; i < steps.length; i++) {
    if (steps[i]!.seq > steps[i - 1]!.seq) continue;
    const path = `steps[${i}].seq`;
    return {
      code: 'TRACE_BAD_FIELD',
      message: `"${path}" must be greater than the one before: steps are ordered`,
      path,
    };
  }
  return undefined;
}
