import type { QueryResult, TraceWarning } from './run-result.ts';

/**
 * Warnings that cannot hide a call: inconsistent numbers, guesses that add a step. Any other
 * warning may hide one, unknown ones from later versions included.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'AGENTUNIT_BAD_COST',
  'ANSWER_EMPTY',
  'ASSAY_NO_CALLS',
  'HANDOFF_GUESSED',
  'OUTPUT_NOISE',
  'REQUESTS_LEFT_OUT',
  'SECRET_MASKED',
  'SIMPLE_UNKNOWN_KEY',
  'STREAM_NOISE',
  'TOOL_NAME_CHANGED',
  'USAGE_DRIFT',
]);

/**
 * Warnings about unused parts of the spec. They hide nothing, and count as warnings under --strict.
 */
const OF_SPEC: ReadonlySet<string> = new Set(['SCRIPT_UNUSED']);

/** Whether a recording with this warning may lack a call. */
export const mayHideCall = ({ code }: TraceWarning): boolean =>
  !HARMLESS.has(code) && !OF_SPEC.has(code);

/** Whether a warning is about the spec and not the recording. */
export const isOfSpec = ({ code }: TraceWarning): boolean => OF_SPEC.has(code);

const MAX_KEPT = 20;

/** The distinct warnings of several runs. */
export function mergeWarnings(runs: readonly Pick<QueryResult, 'warnings'>[]): TraceWarning[] {
  const seen = new Map<string, TraceWarning>();
  for (const { warnings } of runs)
    for (const warning of warnings ?? [])
      if (seen.size < MAX_KEPT) seen.set(`${warning.code}\0${warning.message}`, warning);
  return [...seen.values()];
}

/** Warnings as in results: bounded, without step ids. */
export const toWarnings = (warnings: readonly TraceWarning[]): TraceWarning[] =>
  warnings.slice(0, MAX_KEPT).map(({ code, message }) => ({ code, message }));
