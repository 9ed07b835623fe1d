import { caseKey, caseText } from '@agentci/results';
import { type CassetteChoice, freshTraces } from '@agentci/run';
import { selectQueries } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { withFolder } from '../cli/options.ts';
import { startProgress } from '../cli/progress.ts';
import { cellsOf } from '../test-command/cell-option.ts';
import { baselinePlace, type PlaceOptions, queryNamed } from './baseline-place.ts';
import { refuseExisting, type SaveOptions, saveTraces } from './save-traces.ts';

export interface RecordFlags extends PlaceOptions, SaveOptions {
  readonly query?: string;
  readonly tags?: readonly string[];
  readonly filter?: string;
  readonly workers?: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly maxCost?: number;
  readonly quiet?: boolean;
  readonly cassette?: CassetteChoice;
  readonly cell?: readonly string[];
}

const EXIT_INTERRUPTED = 130;

/** Runs the agent for every chosen query and saves its traces. */
export async function recordBaselines(options: RecordFlags, io: Io): Promise<number> {
  const place = await baselinePlace(options, io);
  const { tags, filter } = options;
  const ids = options.query === undefined ? undefined : [queryNamed(place.suite, options.query).id];
  const cells = cellsOf(place.suite, options.cell);
  refuseExisting(selectQueries(place.suite, { tags, filter, ids, cells }), place, options, io);
  const progress = startProgress(io, {
    quiet: (options.quiet ?? false) || (options.json ?? false),
  });
  const { timeout: timeoutMs, maxCost: maxCostUsd, workers, retries } = options;
  const cassette =
    options.cassette === undefined ? undefined : withFolder(options.cassette, io.cwd);
  const present = Object.entries({
    tags,
    filter,
    ids,
    cells,
    workers,
    retries,
    timeoutMs,
    maxCostUsd,
    cassette,
  }).filter(([, value]) => value !== undefined);
  try {
    const found = await freshTraces({
      suite: place.suite,
      env: io.env,
      signal: io.signal,
      now: io.now,
      sink: progress,
      ...Object.fromEntries(present),
    });
    progress.stop();
    const byKey = new Map(place.suite.queries.map((query) => [caseKey(query), query]));
    const refused = [...found.errors].map(([key, { message }]) => ({
      query_id: byKey.get(key)!.id,
      code: 'NO_TRACE',
      message: `${caseText(byKey.get(key)!)}: ${message}`,
    }));
    const code = await saveTraces({ ...place, byQuery: found.byQuery, refused }, options, io);
    // Repeats that finished before Ctrl-C are saved. The user can run the command again for the
    // rest.
    return found.interrupted ? EXIT_INTERRUPTED : code;
  } finally {
    progress.stop();
  }
}
