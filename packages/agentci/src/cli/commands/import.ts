import { skippedNotice } from '@agentci/run';
import { Option } from 'commander';
import { describeImport } from '../../import/describe-import.ts';
import { importRecordings } from '../../import/import-recordings.ts';
import { summarizeTraces } from '../../import/summarize-traces.ts';
import {
  DEFAULT_SPEC,
  type ImportFlags,
  nothingRead,
  writeImport,
} from '../../import/write-import.ts';
import type { CliCommand } from '../cli-command.ts';

export const command: CliCommand = {
  name: 'import',
  summary: 'import recordings as traces or tests',
  configure: (parser) =>
    parser
      .argument('<files...>', 'recordings: files or folders')
      .option('--trace-format <format>', 'format of the recordings (default: detected)')
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
      .option('--redact-names', 'mask names of people too (also masks place names)')
      .option('--only-failures', 'only runs that failed, or in which a call failed')
      .option('--dry-run', 'say what would be written, write nothing')
      .option('--force', 'overwrite existing files')
      .option('--json', 'print the findings as JSON')
      .addHelpText(
        'after',
        `
Examples:
  agentci import export.json                                   its content, and what is missing
  agentci import spans.jsonl --only-failures --redact --to-spec  turn production failures into tests
  agentci import run.json -o traces.jsonl                      keep it as AgentCI traces

Exit codes: 0 read · 1 a recording could not be read, the others were · 2 nothing could be read or written`,
      ),
  run: async ({ args, options: given, io }) => {
    const options = given as unknown as ImportFlags;
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
    const written = await writeImport(traces, options, io);
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
