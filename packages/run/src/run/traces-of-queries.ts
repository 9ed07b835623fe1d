import { readTraces } from '@agentci/formats';
import type { QueryError } from '@agentci/results';
import { type Cell, caseKey } from '@agentci/results';
import type { Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { bareSuite } from './evaluate-recorded.ts';
import { recordingOf, TraceMatcher } from './match-traces.ts';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

/**
 * The traces of each case by `caseKey`, in order of discovery, and the places of unmatched ones.
 */
export interface FoundTraces {
  readonly byQuery: ReadonlyMap<string, readonly Trace[]>;
  readonly unmatched: readonly string[];
}

/**
 * Reads recordings and assigns each to its query: by id, then by text. A single recording without a
 * name belongs to the only selected query.
 */
export async function readTracesOfQueries(
  source: string,
  suite: Suite,
  options: {
    readonly onlyQuery?: string;
    readonly format?: string;
    readonly assumedCell?: Cell;
  } = {},
): Promise<FoundTraces> {
  const matcher = new TraceMatcher(
    suite.queries,
    () => Number.POSITIVE_INFINITY,
    options.assumedCell,
  );
  const byQuery = new Map<string, Trace[]>();
  const unmatched: Trace[] = [];
  for await (const trace of readTraces(
    source,
    options.format === undefined ? {} : { format: options.format },
  )) {
    const match = matcher.take(recordingOf(trace));
    if (match.kind === 'unused') unmatched.push(trace);
    else {
      const key = caseKey(match.query);
      byQuery.set(key, [...(byQuery.get(key) ?? []), trace]);
    }
  }
  const [only] = unmatched;
  if (
    options.onlyQuery !== undefined &&
    byQuery.size === 0 &&
    only !== undefined &&
    unmatched.length === 1
  ) {
    return { byQuery: new Map([[options.onlyQuery, [only]]]), unmatched: [] };
  }
  return { byQuery, unmatched: unmatched.map((trace) => recordingOf(trace).place) };
}

/**
 * Runs the agent once for each query and returns the traces. A query without a trace has the
 * reason.
 */
export async function freshTraces(
  options: RunOptions,
): Promise<
  FoundTraces & { readonly errors: ReadonlyMap<string, QueryError>; readonly interrupted: boolean }
> {
  const byQuery = new Map<string, readonly Trace[]>();
  const run = await runSuite({
    ...options,
    suite: bareSuite(options.suite),
    runs: 1,
    // A recording is judged when it is saved. Judging here would ask twice.
    judge: 'off',
    sink: {
      record: ({ id, result }, trace) => {
        // A run without a usable cassette has a trace to inspect, but not to compare.
        if (trace && !result.error?.kind.startsWith('cassette'))
          byQuery.set(caseKey({ id, cell: result.cell }), [trace]);
      },
    },
  });
  const errors = new Map(
    run.results.flatMap((result) => {
      const key = caseKey(result);
      return !byQuery.has(key) && result.error ? [[key, result.error]] : [];
    }),
  );
  return { byQuery, unmatched: [], errors, interrupted: run.interrupted ?? false };
}
