import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { JUDGE_MODES, type JudgeMode } from '@agentci/judge';
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
import type { Suite } from '@agentci/spec';
import { loadSpec, selectQueries } from '@agentci/spec';
import { Option } from 'commander';
import { gitState } from '../../ci/git-state.ts';
import {
  DEFAULT_SPEC,
  folderOf,
  isRunOf,
  judgeCacheOf,
  runsRoot,
  specPath,
} from '../../stored-runs/spec-folders.ts';
import { storedRunId } from '../../stored-runs/stored-run.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import {
  collect,
  collectList,
  fraction,
  positiveNumber,
  someText,
  wholeNumber,
} from '../options.ts';

interface Options {
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

export const command: CliCommand = {
  name: 'mutate',
  summary: 'break good recordings on purpose and see which breakages the checks notice',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec', DEFAULT_SPEC)
      .option('--traces <path>', 'good recordings: a file or a folder')
      .option('--trace-format <format>', "the recordings' format, instead of detecting it")
      .option(
        '--run <id>',
        'the recordings of a stored run; "latest" is the newest finished one of this spec',
      )
      .option(
        '-t, --tags <tags>',
        'only queries with one of these tags (repeat or separate by commas)',
        collectList,
      )
      .option(
        '--filter <text>',
        'only queries whose id or text contains this; * is a wildcard',
        someText,
      )
      .option(
        '--operators <names>',
        'only these kinds of change (repeat or separate by commas)',
        collectList,
      )
      .option('--seed <n>', 'seed of what is chosen by chance (default: 0)', wholeNumber(0))
      .option(
        '--budget <n>',
        'at most this many changes in all (default: 50 for each recording)',
        wholeNumber(1),
      )
      .option(
        '--min-score <share>',
        'exit 1 when a smaller share of the changes is noticed: 0.8 or 80%',
        fraction,
      )
      .option('--baseline <version>', 'compare with this baseline version')
      .addOption(
        new Option(
          '--judge <mode>',
          'ask rubrics about changed answers too (default: off)',
        ).choices([...JUDGE_MODES]),
      )
      .option(
        '--judge-cache <dir>',
        'where verdicts are stored (default: .agentci/judge-cache beside the spec)',
      )
      .option('--max-cost <usd>', 'ask no judge beyond this cost', positiveNumber)
      .option(
        '-o, --output <file>',
        'write the report to a file: .json, .md or .html (repeatable)',
        collect,
      )
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        `
Each change makes one mutant: a call dropped, repeated or renamed, a wrong argument, a number changed, ten times the
cost. A change is noticed when a check has a worse verdict on the mutant than on the recording. No agent is run, and no
model is asked unless --judge says so.

Changes: ${OPERATORS.map(({ name }) => name).join(', ')}

Examples:
  agentci mutate --run latest
  agentci mutate --traces traces/ --min-score 80% -o mutants.html

Exit codes: 0 done · 1 the score is below --min-score · 2 could not tell: there was nothing to break, or with
--min-score, a query has no good recording, wrong answers were left to rubrics that were not asked, or the budget left
changes untried and the interval of the score reaches below the bound`,
      ),
  run: async ({ options: given, io }) => {
    const options = given as unknown as Options;
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
  },
};

function sourceOf({ traces, run }: Options, suite: Suite, io: Io): string {
  if (traces !== undefined && run !== undefined)
    throw new UserError('OPTIONS_CONFLICT', '--traces and --run exclude each other');
  if (traces === undefined && run === undefined)
    throw new UserError('NO_TRACES', 'mutate needs good recordings: --traces PATH or --run ID', {
      hint: 'agentci test stores what it saw; --run latest takes it.',
    });
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
    throw new UserError('TRACES_MISSING', `--traces: there is no file or folder "${traces}"`);
  return path;
}

function operatorsNamed(names: readonly string[] | undefined): typeof OPERATORS {
  if (names === undefined) return OPERATORS;
  return names.map((name) => {
    const found = OPERATORS.find((operator) => operator.name === name);
    if (found !== undefined) return found;
    const known = OPERATORS.map((operator) => operator.name);
    const near = didYouMean(name, known);
    throw new UserError('OPERATOR_UNKNOWN', `--operators: there is no change "${name}"`, {
      hint: near ? `Did you mean "${near}"?` : `There are: ${known.join(', ')}`,
    });
  });
}

function rendererFor(file: string): (result: MutationResult) => string {
  const found = RENDERERS[extname(file).toLowerCase()];
  if (found !== undefined) return found;
  throw new UserError('OUTPUT_UNKNOWN', `no format is known for "${file}"`, {
    hint: 'End it in .json, .md or .html.',
  });
}

const SHOWN_EVERY = 50;

/** A line that counts, on a terminal. */
function progressOn(io: Io): (done: number, all: number) => void {
  return (done, all) => {
    if (!io.stderr.isTerminal || (done % SHOWN_EVERY !== 0 && done !== all)) return;
    io.stderr.write(`\r${done} of ${all} recordings${done === all ? '\n' : ''}`);
  };
}
