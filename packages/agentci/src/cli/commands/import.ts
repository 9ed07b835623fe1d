import type { TraceProblem } from '@agentci/formats';
import { UserError } from '@agentci/lib/problems';
import { skippedNotice } from '@agentci/run';
import type { Trace } from '@agentci/trace';
import { Option } from 'commander';
import { describeImport } from '../../import/describe-import.ts';
import { importRecordings } from '../../import/import-recordings.ts';
import { makeSuite, saveSuite } from '../../import/make-suite.ts';
import { summarizeTraces } from '../../import/summarize-traces.ts';
import { writeFiles } from '../../import/write-files.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';

interface Options {
  readonly traceFormat?: string;
  readonly output?: string;
  readonly as: 'agentci' | 'atif';
  readonly toSpec?: string | true;
  readonly agent?: string;
  readonly baseline: string;
  readonly redact?: boolean;
  readonly redactNames?: boolean;
  readonly onlyFailures?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const DEFAULT_SPEC = 'agentci_spec.yaml';

export const command: CliCommand = {
  name: 'import',
  summary:
    'read recordings of any tool: see what they hold, keep them as traces, or make tests of them',
  configure: (parser) =>
    parser
      .argument('<files...>', 'recordings: files or folders')
      .option('--trace-format <format>', "the recordings' format, instead of detecting it")
      .option('-o, --output <file>', 'write the traces to this file, one per line')
      .addOption(
        new Option('--as <format>', 'what to write')
          .choices(['agentci', 'atif'])
          .default('agentci'),
      )
      .option(
        '--to-spec [file]',
        `write a spec with a query for each recording, its trace and its baseline (default: ${DEFAULT_SPEC})`,
      )
      .option(
        '--agent <name>',
        "the agent's name in the spec (default: the first agent of the recordings)",
      )
      .option('--baseline <version>', 'the version the baselines are saved under', 'imported')
      .option('--redact', 'mask secrets and personal data before anything is written or shown')
      .option('--redact-names', 'mask names of people too; also masks place names')
      .option('--only-failures', 'only runs that failed, or in which a call failed')
      .option('--dry-run', 'say what would be written, write nothing')
      .option('--force', 'write over files that exist')
      .option('--json', 'say what was found as JSON')
      .addHelpText(
        'after',
        `
Examples:
  agentci import export.json                                   what is in it, and what is not
  agentci import spans.jsonl --only-failures --redact --to-spec  turn production failures into tests
  agentci import run.json -o traces.jsonl                      keep it as AgentCI traces

Exit codes: 0 read · 1 a recording could not be read, the others were · 2 nothing could be read or written`,
      ),
  run: async ({ args, options: given, io }) => {
    const options = given as unknown as Options;
    const { traces, problems, skipped } = await importRecordings(args, {
      dir: io.cwd,
      signal: io.signal,
      onlyFailures: options.onlyFailures ?? false,
      redact: options.redactNames ? 'names' : (options.redact ?? false),
      format: options.traceFormat,
    });
    for (const notice of skippedNotice(skipped)) io.stderr.write(`agentci: ${notice}\n`);
    if (traces.length === 0) throw nothingRead(problems, options);
    const summaries = summarizeTraces(traces);
    const written = await (options.toSpec === undefined ? writeTraces : writeSuite)(
      traces,
      options,
      io,
    );
    if (options.json) {
      io.stdout.write(
        `${JSON.stringify({ formats: summaries, problems, skipped, written: written.files, left: written.left, dry_run: options.dryRun ?? false }, null, 2)}\n`,
      );
    } else
      io.stdout.write(
        describeImport({ summaries, problems, ...written, isDry: options.dryRun ?? false }),
      );
    return problems.length === 0 ? 0 : 1;
  },
};

interface Written {
  readonly files: readonly string[];
  readonly left: readonly { readonly id: string; readonly why: string }[];
  readonly notes: readonly string[];
}

function nothingRead(problems: readonly TraceProblem[], options: Options): UserError {
  const [first] = problems;
  if (first !== undefined)
    return new UserError(
      'IMPORT_UNREADABLE',
      `${first.file ?? 'the recording'}${first.line === undefined ? '' : `:${first.line}`}: ${first.message}`,
      {
        hint: 'docs/adapters lists the formats that can be read, and how to export each.',
      },
    );
  return new UserError(
    'IMPORT_NOTHING',
    options.onlyFailures ? 'no run of these recordings failed' : 'no runs found in the recordings',
    {
      hint: options.onlyFailures
        ? 'Leave --only-failures out to import every run.'
        : 'Is it the right file?',
    },
  );
}

async function writeTraces(traces: readonly Trace[], options: Options, io: Io): Promise<Written> {
  if (options.output === undefined) return { files: [], left: [], notes: [] };
  const files = new Map([[options.output, await formatTraces(traces, options)]]);
  return { files: writeFiles(files, writing(options, io)), left: [], notes: [] };
}

async function formatTraces(traces: readonly Trace[], options: Options): Promise<string> {
  if (options.as === 'agentci') return traces.map((trace) => `${JSON.stringify(trace)}\n`).join('');
  const { toAtif } = await import('@agentci/formats/atif-write');
  return traces.map((trace) => `${JSON.stringify(toAtif(trace))}\n`).join('');
}

async function writeSuite(traces: readonly Trace[], options: Options, io: Io): Promise<Written> {
  const made = await makeSuite(traces, {
    dir: io.cwd,
    spec: typeof options.toSpec === 'string' ? options.toSpec : DEFAULT_SPEC,
    output: options.output,
    agent: options.agent,
  });
  const files = await saveSuite(made, {
    ...writing(options, io),
    baseline: options.baseline,
    now: io.now,
  });
  return { files, left: made.left, notes: made.notes };
}

const writing = ({ force = false, dryRun = false }: Options, io: Io) => ({
  dir: io.cwd,
  overwrite: force,
  dryRun,
});
