import { z } from 'zod';
import { nothingCaptured } from './captured.ts';
import { CAPABILITIES, TRACE_SCHEMA, type Trace } from './model.ts';
import type { TraceIssue } from './trace-error.ts';

/** Bounds of a trace: beyond them a recording is refused, so that one file cannot exhaust the reader. */
export const TRACE_LIMITS = { steps: 100_000, agents: 10_000, textLength: 16_777_216, problems: 20 } as const;

const text = z.string().max(TRACE_LIMITS.textLength);
const amount = z.number().min(0);
/** Any object; `z.object` leaves its unknown keys alone, a record would walk them. */
const bag = z.object({});

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('reasoning'), text }),
  z.object({ type: z.literal('json'), data: z.unknown() }),
  z.object({
    type: z.literal('media'),
    modality: z.enum(['image', 'audio', 'video', 'document']),
    mime: text.optional(),
    uri: text.optional(),
    blob: text.optional(),
    bytes: amount.optional(),
    transcript: text.optional(),
  }),
]);

const message = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  name: text.optional(),
  parts: z.array(part),
  calls: z.array(z.object({ id: text.optional(), name: text, args: z.unknown().optional() })).optional(),
  callId: text.optional(),
});

const usage = z.object({
  input: amount.optional(),
  output: amount.optional(),
  cacheRead: amount.optional(),
  cacheWrite: amount.optional(),
  reasoning: amount.optional(),
  audioIn: amount.optional(),
  audioOut: amount.optional(),
  total: amount.optional(),
});

const cost = z.object({ usd: amount, source: z.enum(['reported', 'computed']), prices: text.optional() });

const failure = z.object({
  type: text.optional(),
  message: text.optional(),
  code: z.union([text, z.number()]).optional(),
  stack: text.optional(),
  retryable: z.boolean().optional(),
});

const finish = z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'error', 'other']);

const stepBase = {
  id: text,
  seq: z.number().int(),
  parent: text.optional(),
  agent: text.optional(),
  turn: z.number().int().optional(),
  t0: z.number().optional(),
  t1: z.number().optional(),
  timing: z.enum(['measured', 'estimated']).optional(),
  status: z.enum(['ok', 'error', 'denied', 'cancelled', 'pending', 'unknown']),
  error: failure.optional(),
  raw: z.object({ spanId: text.optional(), ref: text.optional() }).optional(),
  meta: bag.optional(),
};

const step = z.discriminatedUnion('kind', [
  z.object({
    ...stepBase,
    kind: z.literal('llm'),
    provider: text.optional(),
    model: text.optional(),
    requestModel: text.optional(),
    input: z.array(message).optional(),
    inputIsDelta: z.boolean().optional(),
    output: message.optional(),
    finish: finish.optional(),
    usage: usage.optional(),
    cost: cost.optional(),
    ttftMs: amount.optional(),
    cacheHit: z.boolean().optional(),
    params: bag.optional(),
    responseId: text.optional(),
  }),
  z.object({
    ...stepBase,
    kind: z.literal('tool'),
    callId: text.optional(),
    name: text.min(1),
    rawName: text.optional(),
    server: text.optional(),
    args: z.unknown().optional(),
    argsRaw: text.optional(),
    result: z.unknown().optional(),
    resultParts: z.array(part).optional(),
    by: z.enum(['client', 'provider', 'mcp', 'subagent']),
    actor: z.enum(['assistant', 'user', 'program']).optional(),
    attempt: z.number().int().optional(),
    evidence: z.array(z.enum(['span', 'message', 'proxy', 'mcp'])),
    requestedBy: text.optional(),
  }),
  z.object({
    ...stepBase,
    kind: z.literal('agent'),
    name: text,
    input: z.array(message).optional(),
    output: message.optional(),
  }),
  z.object({
    ...stepBase,
    kind: z.literal('handoff'),
    from: text,
    to: text,
    mode: z.enum(['pass', 'return', 'unknown']),
    via: text.optional(),
    reason: text.optional(),
  }),
  z.object({
    ...stepBase,
    kind: z.literal('message'),
    from: text,
    to: z.union([text, z.array(text)]),
    type: z.enum(['request', 'response', 'notify', 'delegate', 'negotiate', 'collaborate', 'conflict']).optional(),
    messageType: text.optional(),
    responseMs: amount.optional(),
    content: z.array(part),
    replyTo: text.optional(),
  }),
  z.object({
    ...stepBase,
    kind: z.literal('retrieval'),
    query: text.optional(),
    store: text.optional(),
    documents: z.array(
      z.object({
        id: text.optional(),
        text: text.optional(),
        score: z.number().optional(),
        uri: text.optional(),
        meta: z.unknown().optional(),
      }),
    ),
  }),
  z.object({
    ...stepBase,
    kind: z.literal('guardrail'),
    name: text,
    triggered: z.boolean(),
    stage: z.enum(['input', 'output', 'tool']).optional(),
  }),
  z.object({ ...stepBase, kind: z.literal('event'), name: text, data: z.unknown().optional() }),
]);

const agent = z.object({
  id: text,
  name: text,
  role: text.optional(),
  model: text.optional(),
  parent: text.optional(),
  tools: z.array(text).optional(),
  canHandOffTo: z.array(text).optional(),
  kind: z.enum(['agent', 'workflow', 'user', 'remote']).optional(),
  authorityLevel: z.number().optional(),
  canDelegate: z.boolean().optional(),
});

const resource = z.object({
  t: z.number(),
  durationMs: amount.optional(),
  cpuPct: z.number().optional(),
  rssMb: z.number().optional(),
  gpuPct: z.number().optional(),
  gpuMb: z.number().optional(),
  joules: z.number().optional(),
  co2g: z.number().optional(),
  source: z.enum(['measured', 'estimated']),
  agent: text.optional(),
  step: text.optional(),
});

const level = z.enum(['full', 'partial', 'none']).optional();

/** The trace model as a schema. Unknown fields are allowed, so that a newer writer's additions do not break readers. */
export const traceSchema = z.object({
  schema: z.literal(TRACE_SCHEMA),
  id: text.min(1),
  source: z.object({
    format: text,
    dialects: z.array(text).optional(),
    version: text.optional(),
    sdk: text.optional(),
    traceIds: z.array(text).optional(),
    sha256: text.optional(),
    file: text.optional(),
    line: z.number().int().optional(),
  }),
  task: z
    .object({ id: text.optional(), input: z.array(message).optional(), expected: z.unknown().optional() })
    .optional(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  status: z.enum(['ok', 'error', 'incomplete', 'unknown']),
  error: failure.optional(),
  final: z
    .object({
      text: text.optional(),
      data: z.unknown().optional(),
      parts: z.array(part).optional(),
      agent: text.optional(),
      step: text.optional(),
      finish: finish.optional(),
    })
    .optional(),
  agents: z.array(agent).max(TRACE_LIMITS.agents),
  steps: z.array(step).max(TRACE_LIMITS.steps),
  tools: z
    .array(
      z.object({
        name: text,
        description: text.optional(),
        schema: z.unknown().optional(),
        server: text.optional(),
      }),
    )
    .optional(),
  reported: z
    .object({
      usage: usage.optional(),
      cost: cost.optional(),
      durationMs: amount.optional(),
      turns: amount.optional(),
      llmCalls: amount.optional(),
      ttftMs: amount.optional(),
      wallMs: amount.optional(),
      coldStartMs: amount.optional(),
    })
    .optional(),
  outcomes: z
    .array(z.object({ name: text, value: z.union([z.number(), z.boolean(), text]), by: text.optional() }))
    .optional(),
  resources: z.array(resource).optional(),
  meta: bag,
  captured: z.object(Object.fromEntries(CAPABILITIES.map((capability) => [capability, level]))),
  masked: z.array(text).optional(),
  warnings: z.array(z.object({ code: text, message: text, step: text.optional() })),
});

/** Checks a value against the trace model; every problem has its path. The value itself is kept, unknown fields too. */
export function validateTrace(
  value: unknown,
): { readonly ok: true; readonly trace: Trace } | { readonly ok: false; readonly issues: readonly TraceIssue[] } {
  const parsed = traceSchema.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, TRACE_LIMITS.problems).map((issue) => {
      const path = pathText(issue.path);
      return { code: 'TRACE_BAD_FIELD', message: `${path === '' ? 'the trace' : `"${path}"`}: ${issue.message}`, path };
    });
    return { ok: false, issues };
  }
  const trace = value as Trace;
  const disorder = firstDisorder(trace);
  if (disorder !== undefined) return { ok: false, issues: [disorder] };
  // A writer that knows fewer capabilities did not capture the others.
  return {
    ok: true,
    trace: isComplete(trace) ? trace : { ...trace, captured: { ...nothingCaptured(), ...trace.captured } },
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

function pathText(path: readonly PropertyKey[]): string {
  let out = '';
  for (const key of path) out += typeof key === 'number' ? `[${key}]` : out === '' ? String(key) : `.${String(key)}`;
  return out;
}
