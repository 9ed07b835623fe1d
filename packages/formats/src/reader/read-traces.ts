import { JsonStream } from '@agentci/lib/json';
import type { Diagnostic } from '@agentci/lib/problems';
import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { Trace } from '@agentci/trace';
import type { Adapter, AdapterItem, TraceProblem } from '../adapter.ts';
import { containerOf } from '../containers/sniff.ts';
import { byteChunks } from './byte-chunks.ts';
import type { AdapterList } from './choose-adapter.ts';
import { gathered, readContainer } from './read-container.ts';
import { RecordReader } from './record-reader.ts';
import { recordingFiles } from './recording-files.ts';

export interface ReadOptions {
  /** A format id such as `simple`. Default: detected per file. */
  readonly format?: string;
  readonly signal?: AbortSignal;
  /** Called with files in a folder that are not read, by their names or because a link leads out of it. */
  readonly onSkipped?: (path: string) => void;
  /** The formats to choose from. */
  readonly adapters?: readonly Adapter[];
}

const MAX_LISTED = 100;

/**
 * The traces of a file, folder or bytes, one at a time. Unreadable records go to `onProblem`;
 * without it they are thrown as one `UserError` after every good trace.
 */
export async function* readTraces(
  source: string | Uint8Array,
  options: ReadOptions & { readonly onProblem?: (problem: TraceProblem) => void } = {},
): AsyncGenerator<Trace, void, undefined> {
  const listed: TraceProblem[] = [];
  let problems = 0;
  const onProblem = (problem: TraceProblem): void => {
    problems++;
    if (options.onProblem !== undefined) options.onProblem(problem);
    else if (listed.length < MAX_LISTED) listed.push(problem);
  };
  for await (const batch of readTraceBatches(source, options)) {
    for (const item of batch) {
      if (item.ok) yield item.trace;
      else onProblem(item.problem);
    }
  }
  if (problems === 0 || options.onProblem !== undefined) return;
  const [first] = listed;
  const more = problems === 1 ? '' : ` and ${problems - 1} more`;
  throw new UserError('TRACE_UNREADABLE', `${placeText(first!)}${first!.message}${more}`, {
    diagnostics: listed.map(toDiagnostic),
  });
}

/** As `readTraces`, with the problems in their place among the traces. */
export async function* readTraceItems(
  source: string | Uint8Array,
  options: ReadOptions = {},
): AsyncGenerator<AdapterItem, void, undefined> {
  for await (const batch of readTraceBatches(source, options)) for (const item of batch) yield item;
}

const placeText = ({ file, line, column }: TraceProblem): string => {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return place === '' ? '' : `${place}: `;
};

const toDiagnostic = (problem: TraceProblem): Diagnostic => ({
  severity: 'error',
  code: problem.code,
  message: problem.message,
  file: problem.file ?? '<bytes>',
  line: problem.line ?? 1,
  column: problem.column ?? 1,
});

/**
 * Like `readTraceItems`, in batches per chunk, because a promise per record would cost more than
 * parsing.
 */
export async function* readTraceBatches(
  source: string | Uint8Array,
  options: ReadOptions,
): AsyncGenerator<AdapterItem[]> {
  const adapters = options.adapters === undefined ? knownAdapters : async () => options.adapters!;
  const chosen =
    options.format === undefined ? undefined : adapterNamed(options.format, await adapters());
  if (typeof source !== 'string') {
    yield* readOne(source, undefined, { adapters, chosen, signal: options.signal });
    return;
  }
  for (const file of await recordingFiles(source, options.onSkipped)) {
    yield* readOne(file, file, { adapters, chosen, signal: options.signal });
  }
}

/** Loads every format, for recordings that are not in our own. */
const knownAdapters: AdapterList = async () => (await import('../index.gen.ts')).ADAPTERS;

function adapterNamed(format: string, adapters: readonly Adapter[]): Adapter {
  const found = adapters.find((adapter) => adapter.format === format);
  if (found !== undefined) return found;
  const names = adapters.map((adapter) => adapter.format);
  const meant = didYouMean(format, names);
  throw new UserError('OPTION_INVALID', `there is no trace format "${format}"`, {
    hint: meant === undefined ? `formats: ${names.join(', ')}` : `did you mean "${meant}"?`,
  });
}

interface FileOptions {
  readonly adapters: AdapterList;
  readonly chosen: Adapter | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* readOne(
  source: string | Uint8Array,
  file: string | undefined,
  options: FileOptions,
): AsyncGenerator<AdapterItem[]> {
  const { signal } = options;
  signal?.throwIfAborted();
  const reader = new RecordReader({ file, ...options });
  const namedLines = file !== undefined && /\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file);
  const stream = new JsonStream({ unwrapKey: 'traces', namedLines });
  try {
    let isFirst = true;
    const chunks = byteChunks(source);
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      const container = isFirst ? containerOf(chunk) : undefined;
      isFirst = false;
      if (container !== undefined) {
        const all = await gathered(chunk, chunks, signal);
        const inner = container === 'zip' && all !== undefined ? await zipped(all) : undefined;
        if (inner !== undefined) {
          for (const [name, bytes] of inner)
            yield* readOne(bytes, `${file ?? '<zip>'}/${name}`, options);
          return;
        }
        yield [
          ...(await readContainer({ container, bytes: all, reader })),
          ...(await reader.end()),
        ];
        return;
      }
      const items = await reader.push(stream.push(chunk));
      stream.keepsText = reader.wantsText;
      if (items.length > 0) yield items;
    }
  } catch (error) {
    const problem = readFailure(error, file);
    if (problem === undefined) throw error;
    yield [...(await reader.push(stream.end())), ...(await reader.flush()), { ok: false, problem }];
    return;
  }
  yield [...(await reader.push(stream.end())), ...(await reader.end())];
}

const zipped = async (bytes: Uint8Array): Promise<ReadonlyMap<string, Uint8Array> | undefined> =>
  (await import('../containers/zip.ts')).filesInZip(bytes);

/** An unreadable file is a problem of that file, and the others are still read. */
function readFailure(error: unknown, file: string | undefined): TraceProblem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string')
    return undefined;
  const place = file === undefined ? {} : { file };
  if (error.code === 'Z_BUF_ERROR')
    return { code: 'TRACE_DAMAGED', message: 'the gzip data end early', ...place };
  if (error.code.startsWith('Z_'))
    return { code: 'TRACE_DAMAGED', message: 'the gzip data are damaged', ...place };
  const isFileError = 'syscall' in error;
  return isFileError
    ? { code: 'TRACE_UNREADABLE', message: `cannot read the file (${error.code})`, ...place }
    : undefined;
}
