import { UserError } from '@agentci/lib/problems';
import { visibleName } from '@agentci/lib/text';
import { isUnnamed } from '@agentci/trace';

/**
 * One tool call for a policy. `args: undefined` means that they were not captured, never that there
 * were none.
 */
export interface PolicyCall {
  readonly name: string;
  /** The recorded name, if the server prefix was removed. A policy may use either. */
  readonly rawName?: string;
  readonly args?: unknown;
  /** Captured arguments that are not JSON. */
  readonly argsRaw?: string;
  /** The result. Absent if unknown. */
  readonly result?: unknown;
  /** The error, or null. A step of a trace has more detail. */
  readonly error?: unknown;
  readonly agent?: string | null;
  readonly latency_ms?: number;
  /** Start time in milliseconds. */
  readonly at_ms?: number;
  /** Content next to the result or error, which a client may show its model as well. */
  readonly said?: readonly unknown[];
  /** Other forms of the result: its text next to structured content, and each of several texts. */
  readonly forms?: readonly unknown[];
  /** Input sent after the start of the call, when the server asked for it. */
  readonly sent?: unknown;
}

/** Accepted inputs: a name, the trace's tool steps, or Assay's `{tool, arguments}`. */
export type CallInput =
  | string
  | {
      readonly name?: string;
      readonly tool?: string;
      readonly args?: unknown;
      readonly arguments?: unknown;
      readonly argsRaw?: string;
      readonly result?: unknown;
      readonly error?: unknown;
      readonly agent?: string | null;
      readonly latency_ms?: number;
      readonly at_ms?: number;
    };

/**
 * Names the first call without a name as the reason why a rule about tools is undecided. Undefined
 * if all have one.
 */
export function unnamedReason(calls: readonly PolicyCall[]): string | undefined {
  const at = calls.findIndex(({ name }) => isUnnamed(name));
  return at < 0 ? undefined : `call ${at + 1} was recorded without the name of its tool`;
}

/** Normalizes calls. A step of a trace already has the right form and is not copied. */
export function toCalls(inputs: readonly CallInput[]): readonly PolicyCall[] {
  if (!Array.isArray(inputs))
    throw new UserError('POLICY_VALUE', '"calls" must be a list of tool calls');
  return inputs.every(isPolicyCall) ? inputs : inputs.map(toCall);
}

const isPolicyCall = (input: CallInput): input is PolicyCall =>
  typeof input === 'object' &&
  input !== null &&
  typeof input.name === 'string' &&
  !('arguments' in input) &&
  visibleName(input.name) === input.name;

function toCall(input: CallInput): PolicyCall {
  if (typeof input === 'string') return { name: visibleName(input) };
  // Input without a tool name is still a call, of an unknown tool.
  if (typeof input !== 'object' || input === null) return { name: '' };
  const args = input.args ?? input.arguments;
  const { rawName } = input as { readonly rawName?: unknown };
  return {
    // Uses the visible name, so that invisible characters do not bypass a rule.
    name: visibleName(nameIn(input.name) ?? nameIn(input.tool) ?? ''),
    rawName: typeof rawName === 'string' ? visibleName(rawName) : undefined,
    args,
    argsRaw: typeof input.argsRaw === 'string' ? input.argsRaw : undefined,
    ...OUTCOME_FIELDS.reduce<Record<string, unknown>>((found, key) => {
      if (input[key] !== undefined) found[key] = input[key];
      return found;
    }, {}),
  };
}

const OUTCOME_FIELDS = ['result', 'error', 'agent', 'latency_ms', 'at_ms'] as const;

const nameIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
