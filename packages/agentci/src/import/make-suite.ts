import { dirname, join, relative, resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { baselinePath, storeBaseline } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { isFailedRun } from './summarize-traces.ts';
import { trySpec } from './try-spec.ts';
import { writeFiles } from './write-files.ts';
import { type SpecPlan, writeSpecText } from './write-spec-text.ts';

const BASELINE_DIR = 'baselines';

export interface MakeSuiteOptions {
  /** Base folder of relative paths. Default: the working directory. */
  readonly dir?: string;
  /** Path of the spec. Default: `agentci_spec.yaml`. */
  readonly spec?: string;
  /** Path of the traces. Default: `traces/imported.jsonl` next to the spec. */
  readonly output?: string;
  /** The agent's name in the spec. Default: the first agent of the recordings. */
  readonly agent?: string;
}

/** A spec, its traces and its cases, ready to write. */
export interface MadeSuite extends Pick<SpecPlan, 'cases' | 'left'> {
  readonly dir: string;
  readonly suite: Suite;
  readonly spec: string;
  /** Contents of the spec and traces, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Remarks for the user, such as a recording that fails its own test like the original run. */
  readonly notes: readonly string[];
}

/**
 * Creates a spec with a query for each task of the recordings. Tries it in memory first and throws
 * if it does not evaluate.
 */
export async function makeSuite(
  traces: readonly Trace[],
  options: MakeSuiteOptions = {},
): Promise<MadeSuite> {
  const { dir = process.cwd(), spec = 'agentci_spec.yaml' } = options;
  const output = options.output ?? join(dirname(spec), 'traces', 'imported.jsonl');
  const agent =
    options.agent ?? traces.flatMap((trace) => trace.agents)[0]?.name ?? 'imported-agent';
  const replay = relative(resolve(dir, dirname(spec)), resolve(dir, output)).replaceAll('\\', '/');
  const { text, cases, left } = writeSpecText(traces, {
    agent,
    replay: replay.startsWith('.') ? replay : `./${replay}`,
    baselineDir: BASELINE_DIR,
  });
  if (cases.length === 0) {
    throw new UserError(
      'IMPORT_NO_TEST',
      `no test can be made of these recordings: ${left[0]?.why ?? 'there are none'}`,
      { hint: 'agentci import FILE says what a recording holds and what it does not.' },
    );
  }
  const recorded = cases.flatMap(({ id, traces: runs }) =>
    runs.map((trace) => ({ ...trace, task: { ...trace.task, id } })),
  );
  const { suite, notes } = await trySpec({ text, file: resolve(dir, spec), traces: recorded });
  if (resolve(dir, output) === resolve(dir, spec))
    throw new UserError(
      'OPTIONS_CONFLICT',
      `${spec} cannot be the spec and the traces; nothing was written`,
      {
        hint: 'Give -o and --to-spec two names.',
      },
    );
  const files = new Map([
    [output, recorded.map((trace) => `${JSON.stringify(trace)}\n`).join('')],
    [spec, text],
  ]);
  return { dir, suite, spec, files, cases, left, notes };
}

export interface SaveSuiteOptions {
  /** Version name of the saved baselines. */
  readonly baseline: string;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
  readonly now?: () => number;
}

/** Writes a suite with a baseline for each query, all or nothing. Returns the written files. */
export async function saveSuite(made: MadeSuite, options: SaveSuiteOptions): Promise<string[]> {
  const { dir, suite, cases } = made;
  const { baseline: version, overwrite = false, dryRun = false, now } = options;
  const folder = join(dirname(made.spec), BASELINE_DIR);
  const others = cases.map(({ id }) =>
    baselinePath({ dir: folder, agent: suite.agent, version, queryId: id }),
  );
  const written = writeFiles(made.files, { dir, overwrite, dryRun, others });
  if (dryRun) return written;
  for (const { id, traces: runs } of cases)
    storeBaseline({
      suite,
      // The trial run already reported the checks. A recorded failure is still a valid baseline.
      trace: runs.find((trace) => !isFailedRun(trace)) ?? runs[0]!,
      queryId: id,
      version,
      force: true,
      overwrite,
      now,
    });
  return [...written, `${folder} (${plural(cases.length, 'baseline')} "${version}")`];
}
