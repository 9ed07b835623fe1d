import { UserError } from '@agentci/lib/problems';
import { visibleName } from '@agentci/lib/text';
import { isUnnamed } from '@agentci/trace';

/** One tool call as the policy sees it. `args: undefined` means that they were not captured, never that there were none. */
export interface PolicyCall {
  readonly name: string;
  /** The name as recorded, where the server was taken out of it; a policy may use either. */
  readonly rawName?: string;
  readonly args?: unknown;
  /** Arguments that were captured as text which is not JSON. */
  readonly argsRaw?: string;
  /** What it gave back; absent where that is not known. */
  readonly result?: unknown;
  /** Why it failed; null when it did not. A step of a trace has more to say of it. */
  readonly error?: unknown;
  readonly agent?: string | null;
  readonly latency_ms?: number;
  /** When it began, in milliseconds. */
  readonly at_ms?: number;
  /** What came back beside the result or the error, which a client may show its model as well. */
  readonly said?: readonly unknown[];
  /** Other forms that the result came in: its text beside structured content, each of several texts. */
  readonly forms?: readonly unknown[];
  /** What was handed in after the call was made, when the server asked for it. */
  readonly sent?: unknown;
}

/** What callers may hand in: a name, the trace's tool steps, or Assay's `{tool, arguments}`. */
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

/** The first call without a name, as a reason why a rule about tools cannot be decided; undefined when all have one. */
export function unnamedReason(calls: readonly PolicyCall[]): string | undefined {
  const at = calls.findIndex(({ name }) => isUnnamed(name));
  return at < 0 ? undefined : `call ${at + 1} was recorded without the name of its tool`;
}

/** Calls in one form. A step of a trace already has it, so it is not copied. */
export function toCalls(inputs: readonly CallInput[]): readonly PolicyCall[] {
  if (!Array.isArray(inputs))
    throw new UserError('POLICY_NO_CALLS', '"calls" must be a list of tool calls');
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
  // What names no tool is a call all the same, of a tool that is not known.
  if (typeof input !== 'object' || input === null) return { name: '' };
  const args = input.args ?? input.arguments;
  const { rawName } = input as { readonly rawName?: unknown };
  return {
    // As a reader sees it: a character that does not show is not a way around a rule.
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
