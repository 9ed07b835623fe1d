import { UserError } from '@agentci/lib/problems';
import type { Io } from '../cli/io.ts';
import { baselinePlace, queryNamed } from './baseline-place.ts';
import { saveTraces } from './save-traces.ts';
import { fromAgent, fromRecordings, type SaveFlags } from './traces-to-save.ts';

/** Saves traces from a stored run, from recordings, or from a new run of the agent. */
export async function saveBaselines(options: SaveFlags, io: Io): Promise<number> {
  if (options.run !== undefined && options.traceFile !== undefined)
    throw new UserError('OPTIONS_CONFLICT', '--run and --trace-file exclude each other');
  const place = await baselinePlace(options, io);
  const query = options.query === undefined ? undefined : queryNamed(place.suite, options.query);
  const isFresh =
    query !== undefined &&
    options.run === undefined &&
    options.traceFile === undefined &&
    place.suite.runner !== undefined;
  const found = isFresh
    ? await fromAgent(place, query.id, options, io)
    : await fromRecordings(place.suite, query?.id, options, io);
  return saveTraces({ ...place, ...found }, options, io);
}
