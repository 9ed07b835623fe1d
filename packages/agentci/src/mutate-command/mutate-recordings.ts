import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { JudgeMode } from '@agentci/judge';
import {
  mutateSuite,
  OPERATORS,
  renderConsole,
  renderHtml,
  renderMarkdown,
} from '@agentci/lab/mutate';
import { writeFileAtomic } from '@agentci/lib/files';
import { formatDiagnostic, UserError } from '@agentci/lib/problems';
import { didYouMean, escapeTerminal } from '@agentci/lib/text';
import type { MutationResult } from '@agentci/results';
import { readTracesOfQueries, tracesOf } from '@agentci/run';
import { loadSpec, type Suite, selectQueries } from '@agentci/spec';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import {
  folderOf,
  isRunOf,
  judgeCacheOf,
  runsRoot,
  specPath,
} from '../stored-runs/spec-folders.ts';
import { storedRunId } from '../stored-runs/stored-run.ts';

export interface MutateFlags {
  readonly config: string;
  readonly traces?: string;
  readonly traceFormat?: string;
  readonly run?: string;
  readonly seed?: number;
  readonly budget?: number;
  readonly minScore?: number;
  readonly operators?: readonly string[];
  readonly tags?: readonly string[];
  readonly filter?: string;
  readonly judge?: JudgeMode;
  readonly judgeCache?: string;
  readonly maxCost?: number;
  readonly baseline?: string;
  readonly output?: readonly string[];
  readonly json?: boolean;
}

const RENDERERS: Readonly<Record<string, (result: MutationResult) => string>> = {
  '.json': (result) => `${JSON.stringify(result, null, 2)}\n`,
  '.md': renderMarkdown,
  '.html': renderHtml,
};

/** Mutates the recordings of a suite, writes the reports, and returns the exit code. */
export async function mutateRecordings(options: MutateFlags, io: Io): Promise<number> {
  for (const file of options.output ?? []) rendererFor(file);
  const operators = operatorsNamed(options.operators);
  const { suite, diagnostics } = await loadSpec(specPath(options.config, io.cwd));
  for (const warning of diagnostics)
    io.stderr.write(`${escapeTerminal(formatDiagnostic(warning))}\n`);
  const source = sourceOf(options, suite, io);
  const { byQuery, unmatched } = await readTracesOfQueries(source, suite, {
    format: options.traceFormat,
  });
  if (unmatched.length > 0)
    io.stderr.write(
      `agentci: recordings of no query of this spec: ${unmatched.slice(0, 5).join(', ')}\n`,
    );
  const queries = selectQueries(suite, { tags: options.tags, filter: options.filter });
  const result = await mutateSuite({
    suite,
    recordings: byQuery,
    queries,
    env: io.env,
    signal: io.signal,
    operators,
    judgeCacheDir: judgeCacheOf(folderOf(suite, io), options.judgeCache, io),
    onProgress: progressOn(io),
    seed: options.seed,
    budget: options.budget,
    minScore: options.minScore,
    judge: options.judge,
    maxCostUsd: options.maxCost,
    baseline: options.baseline,
  });
  for (const file of options.output ?? [])
    writeFileAtomic(resolve(io.cwd, file), rendererFor(file)(result));
  io.stdout.write(options.json ? RENDERERS['.json']!(result) : renderConsole(result));
  return io.signal.aborted ? 130 : result.summary.exit_code;
}

function sourceOf({ traces, run }: MutateFlags, suite: Suite, io: Io): string {
  if (traces !== undefined && run !== undefined)
    throw new UserError('OPTIONS_CONFLICT', '--traces and --run exclude each other');
  if (traces === undefined && run === undefined)
    throw new UserError(
      'TRACES_MISSING',
      'mutate needs good recordings: --traces PATH or --run ID',
      {
        hint: 'agentci test stores what it saw; --run latest takes it.',
      },
    );
  const root = runsRoot(folderOf(suite, io));
  if (traces === undefined)
    return tracesOf(
      root,
      storedRunId(root, run, {
        isOurs: (stored) => isRunOf(suite, stored),
        spec: suite.file,
        branch: gitState(folderOf(suite, io), io).branch,
      }),
    );
  const path = resolve(io.cwd, traces);
  if (!existsSync(path))
    throw new UserError('TRACES_MISSING', `--traces: no file or folder "${traces}"`);
  return path;
}

function operatorsNamed(names: readonly string[] | undefined): typeof OPERATORS {
  if (names === undefined) return OPERATORS;
  return names.map((name) => {
    const found = OPERATORS.find((operator) => operator.name === name);
    if (found !== undefined) return found;
    const known = OPERATORS.map((operator) => operator.name);
    const near = didYouMean(name, known);
    throw new UserError('OPTION_INVALID', `--operators: unknown change "${name}"`, {
      hint: near ? `Did you mean "${near}"?` : `There are: ${known.join(', ')}`,
    });
  });
}

function rendererFor(file: string): (result: MutationResult) => string {
  const found = RENDERERS[extname(file).toLowerCase()];
  if (found !== undefined) return found;
  throw new UserError('OPTION_INVALID', `no format is known for "${file}"`, {
    hint: 'End it in .json, .md or .html.',
  });
}

const SHOWN_EVERY = 50;

/** A live counter on a terminal. */
function progressOn(io: Io): (done: number, all: number) => void {
  return (done, all) => {
    if (!io.stderr.isTerminal || (done % SHOWN_EVERY !== 0 && done !== all)) return;
    io.stderr.write(`\r${done} of ${all} recordings${done === all ? '\n' : ''}`);
  };
}
