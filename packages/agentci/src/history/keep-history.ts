import { andMore, escapeTerminalLine, plural } from '@agentci/lib/text';
import type { RunResult } from '@agentci/results';
import type { JudgedRun } from '@agentci/run';
import { appendRuns, type HistoryQuery, historyQuery, historyRoot, historyRun } from '@agentci/run';
import type { GitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import type { RunPlace } from '../stored-runs/run-place.ts';

interface KeepInput {
  /** The folder of the spec. */
  readonly folder: string;
  readonly models: readonly string[] | undefined;
  /** Only some queries were selected, or the run is a shard. */
  readonly isPart: boolean;
  /** Recorded runs cost nothing. */
  readonly isRecorded: boolean;
  /** The agent run that was judged again. */
  readonly judges?: JudgedRun | undefined;
  /** The runs of the shards of a merged run. */
  readonly shardRuns?: readonly string[];
  readonly place: RunPlace;
  readonly git: GitState;
  readonly io: Io;
}

const RUN_AHEAD = 'RUN_AHEAD';

/**
 * Adds a finished run to the history. If the history cannot be written, warns only, because the
 * verdict already exists.
 */
export function keepHistory(
  run: RunResult,
  { folder, models, isPart, isRecorded, judges, shardRuns, place, git, io }: KeepInput,
): void {
  if (run.interrupted) return;
  try {
    const { order, ahead } = place;
    if (ahead.length > 0)
      io.stderr.write(
        `agentci: warning: ${plural(ahead.length, 'run')} in the history ${ahead.length === 1 ? 'is' : 'are'} dated after now, so a clock is wrong, there or here: ${escapeTerminalLine(andMore(ahead, 3))}. Counted as older than this run [${RUN_AHEAD}]\n`,
      );
    const about = {
      ...git,
      order,
      models,
      isPart,
      isRecorded,
      judges,
      shardRuns,
      at: new Date(io.now()).toISOString(),
    };
    appendRuns(historyRoot(folder), [{ run: historyRun(run, about), queries: queriesOf(run) }]);
  } catch (error) {
    io.stderr.write(`agentci: the run is not added to the history: ${(error as Error).message}\n`);
  }
}

/** Yields one by one, so that a large run is not in memory twice. */
function* queriesOf({ results }: RunResult): Generator<HistoryQuery> {
  for (const result of results) yield historyQuery(result);
}
