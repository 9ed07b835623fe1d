import type { QueryResult } from '@agentci/results';
import { runSuite } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { startProgress } from '../cli/progress.ts';
import { type CassetteFlags, type CassettePlace, missingRuns, say } from './place.ts';

export async function rerecordCassettes(
  place: CassettePlace,
  options: CassetteFlags,
  io: Io,
): Promise<number> {
  const ids = await idsToRecord(place, options, io);
  if (ids.length === 0) {
    say(
      io,
      options.only === 'missing' ? 'every query has its recordings' : 'every recording still fits',
    );
    return 0;
  }
  const progress = startProgress(io, { quiet: false });
  try {
    const run = await runSuite({
      suite: place.suite,
      ids,
      cassette: { mode: 'record', dir: place.dir },
      ignoresBaselines: true,
      judge: 'off',
      env: io.env,
      signal: io.signal,
      now: io.now,
      sink: progress,
      workers: options.workers,
    });
    progress.stop();
    const lacking = run.results.map((result) => whyNotRecorded(result));
    run.results.forEach(({ id }, at) => {
      say(io, lacking[at] === undefined ? `recorded ${id}` : `not recorded ${id}: ${lacking[at]}`);
    });
    if (run.interrupted) return 130;
    return lacking.some((why) => why !== undefined) ? 2 : 0;
  } finally {
    progress.stop();
  }
}

async function idsToRecord(
  place: CassettePlace,
  options: CassetteFlags,
  io: Io,
): Promise<readonly string[]> {
  if (options.only === undefined)
    return options.id === undefined ? place.suite.queries.map(({ id }) => id) : [options.id];
  if (options.only === 'missing')
    return [...new Set(missingRuns(place, options.id).map(({ id }) => id))];
  const { staleIds } = await import('./check.ts');
  return staleIds(place, options, io);
}

/** If a query did not pass or made no call, its file stays unchanged. */
const whyNotRecorded = ({ error, not_run, warnings = [] }: QueryResult): string | undefined =>
  error?.message ??
  (not_run === undefined
    ? warnings.find(({ code }) => code === 'CASSETTE_KEPT')?.message
    : 'it was not run');
