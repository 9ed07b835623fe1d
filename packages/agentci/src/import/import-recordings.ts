import { isAbsolute, relative, resolve } from 'node:path';
import type { TraceProblem } from '@agentci/formats';
import { type ReadOptions, readTraceItems, withHole } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { redactTrace } from './redact-trace.ts';
import { isFailedRun } from './summarize-traces.ts';

export interface ImportOptions extends Pick<ReadOptions, 'format' | 'signal'> {
  /**
   * Base folder of relative paths, also for locations in messages. Default: the working directory.
   */
  readonly dir?: string;
  /** Keep only runs that failed, or with a failed call. */
  readonly onlyFailures?: boolean;
  /** Mask secrets and personal data. `names` also masks probable names of people. */
  readonly redact?: boolean | 'names';
}

export interface ImportedRecordings {
  readonly traces: readonly Trace[];
  /** Unreadable records. */
  readonly problems: readonly TraceProblem[];
  /** Names of skipped files in a folder. */
  readonly skipped: readonly string[];
}

/**
 * Reads recordings of any known format into memory. Locations are relative to `dir`, not specific
 * to this machine.
 */
export async function importRecordings(
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportedRecordings> {
  const { dir = process.cwd(), onlyFailures = false, redact = false, format, signal } = options;
  const traces: Trace[] = [];
  const problems: TraceProblem[] = [];
  const skipped: string[] = [];
  for (const path of paths) {
    const items = readTraceItems(resolve(dir, path), {
      onSkipped: (file) => skipped.push(localPath(file, dir)),
      format,
      signal,
    });
    for await (const item of items) {
      if (!item.ok) problems.push(withLocalFile(item.problem, dir));
      else if (!onlyFailures || isFailedRun(item.trace))
        traces.push(withLocalSource(item.trace, dir));
    }
  }
  // Stored traces do not keep the problems, so later readers must see that there were some.
  const broken = new Set(problems.map(({ file }) => file));
  const known = traces.map((trace) =>
    broken.has(trace.source.file) && !isWhole(trace) ? withHole(trace) : trace,
  );
  const masked =
    redact === false
      ? known
      : known.map((one) => redactTrace(one, { names: redact === 'names' }).trace);
  return { traces: masked, problems, skipped };
}

/** Each record of our own formats is a complete run. */
const isWhole = ({ source }: Trace): boolean =>
  source.format === 'agentci' || source.format === 'simple';

const withLocalFile = (problem: TraceProblem, dir: string): TraceProblem =>
  problem.file === undefined ? problem : { ...problem, file: localPath(problem.file, dir) };

/** Outside `dir`, only the file name is shown, because the path is specific to one machine. */
function localPath(file: string, dir: string): string {
  const path = relative(dir, file);
  return path.startsWith('..') || isAbsolute(path) ? (file.split(/[\\/]/).at(-1) ?? file) : path;
}

function withLocalSource(trace: Trace, dir: string): Trace {
  const { file } = trace.source;
  if (file === undefined) return trace;
  const place = localPath(file, dir);
  return {
    ...trace,
    id: trace.id.replace(file, () => place),
    source: { ...trace.source, file: place },
  };
}
