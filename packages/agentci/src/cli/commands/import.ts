import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import type { TraceProblem } from '../../adapters/adapter.ts';
import { readTraceItems } from '../../adapters/reader/read-traces.ts';
import { skippedNotice } from '../../engine/collect-recorded.ts';
import { saveBaseline } from '../../engine/save-baseline.ts';
import { UserError } from '../../kit/user-error.ts';
import { parseSpec } from '../../spec/parse-spec.ts';
import { writeFileAtomic } from '../../store/atomic-write.ts';
import { baselinePath } from '../../store/baseline-files.ts';
import type { Trace } from '../../trace/model.ts';
import type { CliCommand } from '../cli-command.ts';
import { describeImport } from '../import/describe.ts';
import { redact } from '../import/redact.ts';
import { checkRoundTrip } from '../import/round-trip.ts';
import { isFailure, summarize } from '../import/summary.ts';
import { specFor } from '../import/to-spec.ts';
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
  summary: 'read recordings of any tool: see what they hold, keep them as traces, or make tests of them',
  configure: (parser) =>
    parser
      .argument('<files...>', 'recordings: files or folders')
      .option('--trace-format <format>', "the recordings' format, instead of detecting it")
      .option('-o, --output <file>', 'write the traces to this file, one per line')
      .addOption(new Option('--as <format>', 'what to write').choices(['agentci', 'atif']).default('agentci'))
      .option(
        '--to-spec [file]',
        `write a spec with a query for each recording, its trace and its baseline (default: ${DEFAULT_SPEC})`,
      )
      .option('--agent <name>', "the agent's name in the spec (default: the first agent of the recordings)")
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
    const { traces, problems, skipped } = await readAll(args, options, io);
    for (const notice of skippedNotice(skipped)) io.stderr.write(`agentci: ${notice}\n`);
    if (traces.length === 0) throw nothing(problems, options);
    const summaries = summarize(traces);
    const written =
      options.toSpec === undefined ? await writeTraces(traces, options, io) : await writeSpec(traces, options, io);
    if (options.json) {
      io.stdout.write(
        `${JSON.stringify({ formats: summaries, problems, skipped, written: written.files, left: written.left, dry_run: options.dryRun ?? false }, null, 2)}\n`,
      );
    } else io.stdout.write(describeImport({ summaries, problems, ...written, isDry: options.dryRun ?? false }));
    return problems.length === 0 ? 0 : 1;
  },
};

interface Written {
  readonly files: readonly string[];
  readonly left: readonly { readonly id: string; readonly why: string }[];
  readonly notes: readonly string[];
}

async function readAll(
  paths: readonly string[],
  options: Options,
  io: Io,
): Promise<{ traces: Trace[]; problems: TraceProblem[]; skipped: string[] }> {
  const traces: Trace[] = [];
  const problems: TraceProblem[] = [];
  const skipped: string[] = [];
  for (const path of paths) {
    const items = readTraceItems(resolve(io.cwd, path), {
      signal: io.signal,
      onSkipped: (file) => skipped.push(local(file, io)),
      ...(options.traceFormat === undefined ? {} : { format: options.traceFormat }),
    });
    for await (const item of items) {
      if (!item.ok) problems.push(shown(item.problem, io));
      else if (!options.onlyFailures || isFailure(item.trace)) traces.push(portable(item.trace, io));
    }
  }
  return {
    traces:
      options.redact || options.redactNames
        ? traces.map((trace) => redact(trace, { names: options.redactNames ?? false }).trace)
        : traces,
    problems,
    skipped,
  };
}

/** Where a recording lay on this machine is nobody's business: the place is told from here. */
const shown = (problem: TraceProblem, io: Io): TraceProblem =>
  problem.file === undefined ? problem : { ...problem, file: local(problem.file, io) };

const local = (file: string, io: Io): string => {
  const path = relative(io.cwd, file);
  return path.startsWith('..') || isAbsolute(path) ? (file.split(/[\\/]/).at(-1) ?? file) : path;
};

function portable(trace: Trace, io: Io): Trace {
  const { file } = trace.source;
  if (file === undefined) return trace;
  const place = local(file, io);
  return { ...trace, id: trace.id.replace(file, () => place), source: { ...trace.source, file: place } };
}

function nothing(problems: readonly TraceProblem[], options: Options): UserError {
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
      hint: options.onlyFailures ? 'Leave --only-failures out to import every run.' : 'Is it the right file?',
    },
  );
}

async function writeTraces(traces: readonly Trace[], options: Options, io: Io): Promise<Written> {
  if (options.output === undefined) return { files: [], left: [], notes: [] };
  const text = await textOf(traces, options);
  return write(new Map([[options.output, text]]), options, io);
}

async function textOf(traces: readonly Trace[], options: Options): Promise<string> {
  if (options.as === 'agentci') return traces.map((trace) => `${JSON.stringify(trace)}\n`).join('');
  const { toAtif } = await import('../../adapters/formats/atif/atif-write.ts');
  return traces.map((trace) => `${JSON.stringify(toAtif(trace))}\n`).join('');
}

/** Spec, traces and baselines, tried in memory first: what does not evaluate is not written. */
async function writeSpec(traces: readonly Trace[], options: Options, io: Io): Promise<Written> {
  const spec = options.toSpec === true || options.toSpec === undefined ? DEFAULT_SPEC : options.toSpec;
  const output = options.output ?? join(dirname(spec), 'traces', 'imported.jsonl');
  const baselineDir = 'baselines';
  const agent = options.agent ?? traces.flatMap((trace) => trace.agents)[0]?.name ?? 'imported-agent';
  const replay = relative(resolve(io.cwd, dirname(spec)), resolve(io.cwd, output)).replaceAll('\\', '/');
  const plan = specFor(traces, { agent, replay: replay.startsWith('.') ? replay : `./${replay}`, baselineDir });
  if (plan.cases.length === 0) {
    throw new UserError(
      'IMPORT_NO_TEST',
      `no test can be made of these recordings: ${plan.left[0]?.why ?? 'there are none'}`,
      {
        hint: 'agentci import FILE says what a recording holds and what it does not.',
      },
    );
  }
  const recorded = plan.cases.flatMap(({ id, traces: runs }) =>
    runs.map((trace) => ({ ...trace, task: { ...trace.task, id } })),
  );
  const notes = await checkRoundTrip({ text: plan.text, file: resolve(io.cwd, spec), traces: recorded });
  const files = new Map([
    [output, recorded.map((trace) => `${JSON.stringify(trace)}\n`).join('')],
    [spec, plan.text],
  ]);
  if (resolve(io.cwd, output) === resolve(io.cwd, spec))
    throw new UserError('IMPORT_ONE_FILE', `${spec} cannot be the spec and the traces; nothing was written`, {
      hint: 'Give -o and --to-spec two names.',
    });
  const folder = join(dirname(spec), baselineDir);
  const baselines = plan.cases.map(({ id }) =>
    baselinePath({ dir: folder, agent, version: options.baseline, queryId: id }),
  );
  const written = write(files, options, io, baselines);
  if (options.dryRun) return { ...written, left: plan.left, notes };
  const { suite } = parseSpec(plan.text, { file: resolve(io.cwd, spec) });
  for (const { id, traces: runs } of plan.cases)
    await saveBaseline({
      suite: suite!,
      trace: runs.find((trace) => !isFailure(trace)) ?? runs[0]!,
      queryId: id,
      version: options.baseline,
      force: true,
      overwrite: options.force ?? false,
      judge: 'off',
      now: io.now,
    });
  return {
    files: [
      ...written.files,
      `${folder} (${plan.cases.length} ${plan.cases.length === 1 ? 'baseline' : 'baselines'} "${options.baseline}")`,
    ],
    left: plan.left,
    notes,
  };
}

/** All or nothing: what is written afterwards (`others`) must not be in the way either. */
function write(files: ReadonlyMap<string, string>, options: Options, io: Io, others: readonly string[] = []): Written {
  const existing = [...files.keys(), ...others].filter((path) => existsSync(resolve(io.cwd, path)));
  if (existing.length > 0 && !options.force) {
    throw new UserError('FILE_EXISTS', `${existing.join(', ')} exists already; nothing was written`, {
      hint: '--force writes over it.',
    });
  }
  if (!options.dryRun) for (const [path, text] of files) writeFileAtomic(resolve(io.cwd, path), text);
  return { files: [...files.keys()], left: [], notes: [] };
}
