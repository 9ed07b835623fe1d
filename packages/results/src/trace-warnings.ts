import type { QueryResult, TraceWarning } from './run-result.ts';

/**
 * Oddities that cannot hide a call: a number that does not add up, a guess that adds a step. Every other warning may, and
 * so does one that a later version writes.
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

/** What the user wrote and the run did not need: nothing is hidden, and under --strict it counts like a check that warns. */
const OF_SPEC: ReadonlySet<string> = new Set(['SCRIPT_UNUSED']);

/** Whether a recording with this warning may lack a call that happened. */
export const mayHideCall = ({ code }: TraceWarning): boolean =>
  !HARMLESS.has(code) && !OF_SPEC.has(code);

/** Whether a warning is about the spec: the recording is whole, and what was written for it did not come up. */
export const isOfSpec = ({ code }: TraceWarning): boolean => OF_SPEC.has(code);

const MAX_KEPT = 20;

/** The warnings of several runs of a query, each once. */
export function mergeWarnings(runs: readonly Pick<QueryResult, 'warnings'>[]): TraceWarning[] {
  const seen = new Map<string, TraceWarning>();
  for (const { warnings } of runs)
    for (const warning of warnings ?? [])
      if (seen.size < MAX_KEPT) seen.set(`${warning.code}\0${warning.message}`, warning);
  return [...seen.values()];
}

/** A trace's warnings as results carry them: bounded, and without the ids of its steps. */
export const toWarnings = (warnings: readonly TraceWarning[]): TraceWarning[] =>
  warnings.slice(0, MAX_KEPT).map(({ code, message }) => ({ code, message }));
