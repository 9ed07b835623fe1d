import { isObject } from '@agentci/lib/data';
import { keptText, keptValue, maskMark } from '@agentci/lib/secrets';
import type { Step, ToolStep, Trace } from './model.ts';

/**
 * Values that AgentCI writes or compares by: ids, names, kinds and states. They are not masked,
 * even if a secret equals one of them.
 */
const KEPT: ReadonlySet<string> = new Set([
  'schema',
  'id',
  'source',
  'captured',
  'agents',
  'agent',
  'step',
  'kind',
  'ending',
  'seq',
  'parent',
  'status',
  'timing',
  'raw',
  'name',
  'rawName',
  'server',
  'from',
  'to',
  'via',
  'mode',
  'stage',
  'by',
  'actor',
  'evidence',
  'callId',
  'requestedBy',
  'replyTo',
  'responseId',
  'provider',
  'model',
  'requestModel',
  'finish',
  'finish_reason',
  'stop_reason',
  'role',
  'type',
  'messageType',
  'modality',
  'mime',
  'code',
  'masked',
]);

/** Fields for free-form data of the source, with arbitrary keys. */
const FREE: ReadonlySet<string> = new Set([
  'args',
  'result',
  'data',
  'expected',
  'params',
  'schema',
  'meta',
  'value',
]);

type OnFound = (name: string) => void;

/**
 * Masks secrets in every captured text, and records their names so that later judges know what is
 * hidden. Returns a trace without secrets unchanged.
 */
export function maskTrace(trace: Trace): Trace {
  const names = new Set(trace.masked);
  const before = names.size;
  const masked = maskFields(trace, (name) => names.add(name)) as Trace;
  return masked === trace && names.size === before
    ? trace
    : { ...masked, masked: [...names].sort() };
}

/** The names of the secrets in the captured texts of a trace. */
export function secretsInTrace(trace: Trace): ReadonlySet<string> {
  const names = new Set<string>();
  maskFields(trace, (name) => names.add(name));
  return names;
}

function maskFields(value: unknown, onFound: OnFound): unknown {
  if (typeof value === 'string') return keptText(value, onFound);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let list: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const masked = maskFields(value[i], onFound);
      if (masked === value[i]) continue;
      list ??= [...value];
      list[i] = masked;
    }
    return list ?? value;
  }
  const fields = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key in fields) {
    const inner = fields[key];
    const masked = maskField(key, inner, onFound);
    if (masked === inner) continue;
    copy ??= { ...fields };
    copy[key] = masked;
  }
  return copy ?? value;
}

function maskField(key: string, value: unknown, onFound: OnFound): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (key === 'meta' && isObject(value)) {
    const { model, ...rest } = value as Record<string, unknown>;
    const masked = keptValue(rest, onFound);
    return masked === rest ? value : { model, ...masked };
  }
  if (FREE.has(key) && !(key === 'schema' && typeof value === 'string'))
    return keptValue(value, onFound);
  return KEPT.has(key) ? value : maskFields(value, onFound);
}

/**
 * A masked trace as a judge may see it: redacted values count as not captured. Returns other traces
 * unchanged.
 */
export function withoutMasked(trace: Trace): Trace {
  const isMasked = maskedTest(trace);
  if (isMasked === undefined) return trace;
  const seen: Trace = {
    ...trace,
    captured: { ...trace.captured },
    steps: trace.steps.map((step) => seenStep(step, isMasked)),
  };
  for (const [i, step] of trace.steps.entries()) {
    if (step.kind !== 'tool' || step === seen.steps[i]) continue;
    if (hasMaskedArgs(step, isMasked)) seen.captured.toolArgs = 'partial';
    if (hasMaskedResult(step, isMasked)) seen.captured.toolResults = 'partial';
  }
  if (isMasked(trace.final)) {
    delete seen.final;
    seen.captured.final = 'none';
  }
  return seen;
}

type IsMasked = (value: unknown) => boolean;

const hasMaskedArgs = ({ args, argsRaw }: ToolStep, isMasked: IsMasked): boolean =>
  isMasked(args) || isMasked(argsRaw);
const hasMaskedResult = ({ result, resultParts }: ToolStep, isMasked: IsMasked): boolean =>
  isMasked(result) || isMasked(resultParts);

function seenStep(step: Step, isMasked: IsMasked): Step {
  if (step.kind !== 'tool') return step;
  let seen: ToolStep = step;
  if (hasMaskedArgs(step, isMasked)) {
    const { args: _, argsRaw: __, ...rest } = seen;
    seen = rest;
  }
  if (hasMaskedResult(step, isMasked)) {
    const { result: _, resultParts: __, ...rest } = seen;
    seen = rest;
  }
  return seen;
}

/** Why a check over the whole trace cannot decide. Undefined if nothing was masked. */
export const maskedReason = ({ masked }: Trace): string | undefined =>
  masked === undefined || masked.length === 0
    ? undefined
    : `the value of ${masked.join(', ')} was taken out of the stored trace, so its content is unknown`;

/** A test for values that contain a mask. Undefined if nothing was masked. */
export function maskedTest({ masked }: Trace): ((value: unknown) => boolean) | undefined {
  if (masked === undefined || masked.length === 0) return undefined;
  const marks = masked.map(maskMark);
  return (value) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return marks.some((mark) => text.includes(mark));
  };
}
