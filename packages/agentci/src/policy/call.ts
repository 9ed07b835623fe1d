import { visibleName } from '../kit/visible-text.ts';

/** One tool call as the policy sees it. `args: undefined` means that they were not captured, never that there were none. */
export interface PolicyCall {
  readonly name: string;
  /** The name as recorded, where the server was taken out of it; a policy may use either. */
  readonly rawName?: string;
  readonly args?: unknown;
  /** Arguments that were captured as text which is no JSON. */
  readonly argsRaw?: string;
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
    };

/** Calls in one form. A step of a trace already has it, so it is not copied. */
export function toCalls(inputs: readonly CallInput[]): readonly PolicyCall[] {
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
  if (typeof input !== 'object' || input === null) return { name: String(input) };
  const args = input.args ?? input.arguments;
  const { rawName } = input as { readonly rawName?: unknown };
  return {
    // As a reader sees it: a character that does not show is no way around a rule.
    name: visibleName(String(input.name ?? input.tool ?? '')),
    ...(typeof rawName === 'string' ? { rawName: visibleName(rawName) } : {}),
    ...(args === undefined ? {} : { args }),
    ...(typeof input.argsRaw === 'string' ? { argsRaw: input.argsRaw } : {}),
  };
}
