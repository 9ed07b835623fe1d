import type { QueryResult } from '@agentci/results';
import { toWarnings } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Step, Trace } from '@agentci/trace';
import type { Played } from './cassettes.ts';
import { errorResult } from './combine-runs.ts';

/**
 * The trace of a run that a cassette answered. It has no times, because they would be those of
 * reading a file.
 */
export function playedTrace(trace: Trace, { use, warnings }: Played): Trace {
  const told =
    warnings.length === 0 ? trace : { ...trace, warnings: [...trace.warnings, ...warnings] };
  if (use.hits === 0) return told;
  const { startedAt: _, endedAt: __, reported, ...rest } = told;
  const { durationMs: _d, ttftMs: _t, wallMs: _w, coldStartMs: _c, ...claimed } = reported ?? {};
  return {
    ...rest,
    reported: reported === undefined ? undefined : claimed,
    steps: told.steps.map(untimed),
    meta: { ...told.meta, replayed: 'cassette' },
    captured: { ...told.captured, timing: 'none' },
  };
}

function untimed(step: Step): Step {
  const { t0: _, t1: __, timing: ___, ...rest } = step;
  if (rest.kind !== 'llm') return rest as Step;
  const { ttftMs: ____, ...llm } = rest;
  return llm;
}

/** The result of a run without a usable cassette. */
export function playedResult(query: Query, { use, error, warnings }: Played): QueryResult {
  const result = errorResult(
    query,
    error ?? { kind: 'cassette', message: 'the cassette could not be used' },
  );
  return {
    ...result,
    cassette: use,
    warnings: warnings.length === 0 ? result.warnings : toWarnings(warnings),
  };
}

/**
 * The result with its verdict and the state of the recording. A failed run does not replace a good
 * recording.
 */
export function keptResult(query: Query, played: Played, result: QueryResult): QueryResult {
  const kept = played.keep?.(result.status !== 'fail' && result.status !== 'error') ?? played;
  if (kept.error !== undefined) return playedResult(query, kept);
  const told = toWarnings(kept.warnings.slice(played.warnings.length));
  return {
    ...result,
    cassette: kept.use,
    warnings: told.length === 0 ? result.warnings : [...(result.warnings ?? []), ...told],
  };
}
