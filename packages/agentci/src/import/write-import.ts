import type { TraceProblem } from '@agentci/formats';
import { UserError } from '@agentci/lib/problems';
import type { Trace } from '@agentci/trace';
import type { Io } from '../cli/io.ts';
import { makeSuite, saveSuite } from './make-suite.ts';
import { writeFiles } from './write-files.ts';

export interface ImportFlags {
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

export const DEFAULT_SPEC = 'agentci_spec.yaml';

interface Written {
  readonly files: readonly string[];
  readonly left: readonly { readonly id: string; readonly why: string }[];
  readonly notes: readonly string[];
}

export function nothingRead(problems: readonly TraceProblem[], options: ImportFlags): UserError {
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
    'NOTHING_FOUND',
    options.onlyFailures ? 'no run of these recordings failed' : 'no runs found in the recordings',
    {
      hint: options.onlyFailures
        ? 'Leave --only-failures out to import every run.'
        : 'Is it the right file?',
    },
  );
}

/** Writes the traces as a spec with baselines or as a file, or only describes them. */
export const writeImport = (
  traces: readonly Trace[],
  options: ImportFlags,
  io: Io,
): Promise<Written> =>
  options.toSpec === undefined ? writeTraces(traces, options, io) : writeSuite(traces, options, io);

async function writeTraces(
  traces: readonly Trace[],
  options: ImportFlags,
  io: Io,
): Promise<Written> {
  if (options.output === undefined) return { files: [], left: [], notes: [] };
  const files = new Map([[options.output, await formatTraces(traces, options)]]);
  return { files: writeFiles(files, writing(options, io)), left: [], notes: [] };
}

async function formatTraces(traces: readonly Trace[], options: ImportFlags): Promise<string> {
  if (options.as === 'agentci') return traces.map((trace) => `${JSON.stringify(trace)}\n`).join('');
  const { toAtif } = await import('@agentci/formats/atif-write');
  return traces.map((trace) => `${JSON.stringify(toAtif(trace))}\n`).join('');
}

async function writeSuite(
  traces: readonly Trace[],
  options: ImportFlags,
  io: Io,
): Promise<Written> {
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

const writing = ({ force = false, dryRun = false }: ImportFlags, io: Io) => ({
  dir: io.cwd,
  overwrite: force,
  dryRun,
});
