import type { PageStep, PageTrace } from '@agentci/results';
import type { Cost, LlmStep, Message, Part, Step, Trace } from '@agentci/trace';
import { type PriceLookup, toolNames, totals } from '@agentci/trace';

const MAX_STEPS = 1000;
const MAX_FIELD = 6000;
const MAX_TITLE = 200;
/** Each call repeats the conversation, so only its last messages are new. */
const MAX_MESSAGES = 3;
const MAX_DEPTH = 12;

/** A trace as the page's timeline shows it. Texts are cut, the rest of a long trace is counted, nothing is silent. */
export function pageTrace(trace: Trace, price?: PriceLookup): PageTrace {
  const depthOf = depths(trace.steps);
  const agentOf = agents(trace.steps);
  const zero = trace.startedAt ?? earliest(trace.steps);
  const { latencyMs } = totals(trace);
  const steps = trace.steps.slice(0, MAX_STEPS);
  return {
    id: clip(trace.id, MAX_TITLE),
    status: trace.status,
    format: trace.source.format,
    error: trace.error?.message === undefined ? undefined : clip(trace.error.message, MAX_FIELD),
    duration_ms: latencyMs.exact ? latencyMs.value : undefined,
    tools: trace.captured.toolCalls === 'none' ? null : toolNames(trace),
    steps: steps.map((step) =>
      pageStep(step, {
        depth: depthOf.get(step.id) ?? 0,
        agent: agentOf.get(step.id),
        zero,
        price,
      }),
    ),
    left_out: trace.steps.length > MAX_STEPS ? trace.steps.length - MAX_STEPS : undefined,
    warnings: trace.warnings.slice(0, 20).map(({ message }) => clip(message, MAX_TITLE)),
  };
}

/** Cuts a text to this length and reports the gap. */
export function clip(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text.slice(0, limit)}… (${text.length - limit} more characters)`;
}

function depths(steps: readonly Step[]): Map<string, number> {
  const parents = new Map(steps.map((step) => [step.id, step.parent]));
  const found = new Map<string, number>();
  for (const { id } of steps) {
    let depth = 0;
    // The bound also ends a cycle of parents.
    for (
      let at = parents.get(id);
      at !== undefined && parents.has(at) && depth < MAX_DEPTH;
      at = parents.get(at)
    )
      depth++;
    found.set(id, depth);
  }
  return found;
}

/** Whose step each is: as recorded, else the agent's it is inside of, else the one that was handed over to last. */
function agents(steps: readonly Step[]): Map<string, string> {
  const found = new Map<string, string>();
  let active: string | undefined;
  for (const step of steps) {
    const own = step.kind === 'agent' ? step.name : step.agent;
    const inside = step.parent === undefined ? undefined : found.get(step.parent);
    const from = step.kind === 'handoff' || step.kind === 'message' ? step.from : undefined;
    const agent = own ?? inside ?? from ?? active;
    if (agent !== undefined) found.set(step.id, agent);
    if (step.kind === 'handoff') active = step.to;
  }
  return found;
}

function earliest(steps: readonly Step[]): number | undefined {
  let first: number | undefined;
  for (const { t0 } of steps)
    if (t0 !== undefined && (first === undefined || t0 < first)) first = t0;
  return first;
}

function pageStep(
  step: Step,
  {
    depth,
    agent,
    zero,
    price,
  }: {
    depth: number;
    agent: string | undefined;
    zero: number | undefined;
    price: PriceLookup | undefined;
  },
): PageStep {
  const cost = step.kind === 'llm' ? costOf(step, price) : undefined;
  const usage = step.kind === 'llm' ? step.usage : undefined;
  const duration = durationOf(step);
  return {
    seq: step.seq,
    kind: step.kind,
    title: clip(titleOf(step), MAX_TITLE),
    depth,
    agent: agent === undefined ? undefined : clip(agent, MAX_TITLE),
    status: step.status,
    error:
      step.error === undefined
        ? undefined
        : clip(step.error.message ?? step.error.type ?? 'failed', MAX_FIELD),
    start_ms: step.t0 === undefined || zero === undefined ? undefined : Math.max(0, step.t0 - zero),
    duration_ms: duration,
    input_tokens: usage?.input === undefined ? undefined : usage.input,
    output_tokens: usage?.output === undefined ? undefined : usage.output,
    cost_usd: cost?.usd,
    cost_computed: cost?.source === 'computed' ? (true as const) : undefined,
    fields: fieldsOf(step).flatMap(([label, value]) => {
      const text = textOf(value);
      return text === undefined || text === '' ? [] : [{ label, text: clip(text, MAX_FIELD) }];
    }),
  };
}

/** By the clock, else as the recording says it took: some know how long a call was and not when. */
function durationOf({ t0, t1, meta }: Step): number | undefined {
  if (t0 !== undefined && t1 !== undefined) return t1 < t0 ? undefined : t1 - t0;
  return typeof meta?.durationMs === 'number' ? meta.durationMs : undefined;
}

function costOf(step: LlmStep, price: PriceLookup | undefined): Cost | undefined {
  const { cost, usage, model, provider, t0 } = step;
  if (cost !== undefined) return cost;
  if (
    price === undefined ||
    model === undefined ||
    usage?.input === undefined ||
    usage.output === undefined
  )
    return undefined;
  const found = price({
    model,
    usage,
    provider,
    at: t0,
  });
  return found === undefined
    ? undefined
    : { usd: found.usd, source: 'computed', prices: found.prices };
}

function titleOf(step: Step): string {
  switch (step.kind) {
    case 'llm':
      return step.model ?? step.requestModel ?? 'model call';
    case 'tool':
    case 'agent':
    case 'guardrail':
    case 'event':
      return step.name;
    case 'handoff':
      return `${step.from} → ${step.to}`;
    case 'message':
      return `${step.from} → ${Array.isArray(step.to) ? step.to.join(', ') : step.to}`;
    case 'retrieval':
      return step.store ?? step.query ?? 'retrieval';
  }
}

function fieldsOf(step: Step): [label: string, value: unknown][] {
  switch (step.kind) {
    case 'llm':
      return [
        ...messages(step.input),
        ['output', step.output && messageText(step.output)],
        ['finish', step.finish],
      ];
    case 'tool':
      return [
        ['arguments', step.args ?? step.argsRaw],
        ['result', step.result ?? (step.resultParts && partsText(step.resultParts))],
        ['server', step.server],
      ];
    case 'agent':
      return [...messages(step.input), ['output', step.output && messageText(step.output)]];
    case 'handoff':
      return [['reason', step.reason]];
    case 'message':
      return [
        ['type', step.type ?? step.messageType],
        ['content', partsText(step.content)],
      ];
    case 'retrieval':
      return [
        ['query', step.query],
        ...step.documents
          .slice(0, 20)
          .map(({ id, uri, score, text }, i): [string, unknown] => [
            `document ${i + 1}${score === undefined ? '' : ` (score ${score})`}`,
            [id ?? uri, text].filter(Boolean).join('\n'),
          ]),
      ];
    case 'guardrail':
      return [
        ['triggered', step.triggered ? 'yes' : 'no'],
        ['stage', step.stage],
      ];
    case 'event':
      return [['data', step.data]];
  }
}

function messages(input: readonly Message[] | undefined): [string, unknown][] {
  if (input === undefined) return [];
  const shown = input.slice(-MAX_MESSAGES);
  const before = input.length - shown.length;
  const rows = shown.map((message): [string, unknown] => [
    `input, ${message.role}`,
    messageText(message),
  ]);
  return before === 0 ? rows : [['input', `${before} earlier messages`], ...rows];
}

const messageText = ({ parts, calls }: Message): string =>
  [partsText(parts), ...(calls ?? []).map(({ name, args }) => `→ ${name}(${textOf(args) ?? ''})`)]
    .filter(Boolean)
    .join('\n');

const partsText = (parts: readonly Part[]): string => parts.map(partText).join('\n');

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'json':
      return textOf(part.data) ?? '';
    case 'media':
      return `[${part.modality}${part.mime ? ` ${part.mime}` : ''}]${part.transcript ? ` ${part.transcript}` : ''}`;
  }
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
