import type { Diagnostic } from '../kit/diagnostic.ts';
import { didYouMean } from '../kit/did-you-mean.ts';
import { JsonStream, type StreamProblem, type StreamRecord } from '../kit/json-stream.ts';
import { UserError } from '../kit/user-error.ts';
import type { Trace } from '../trace/model.ts';
import type { Adapter, AdapterItem, RawRecord, TraceProblem } from './adapter.ts';
import { byteChunks } from './byte-chunks.ts';
import { type Detection, detectRecords } from './detect.ts';
import { ADAPTERS } from './index.gen.ts';
import { ownerOfText, problemWith } from './problem.ts';
import { recordingFiles } from './recording-files.ts';
import { unwrap, withTask } from './unwrap.ts';

export interface ReadOptions {
  /** A format id such as `simple`; without it the format is detected per file. */
  readonly format?: string;
  readonly signal?: AbortSignal;
  /** Told of files in a folder that are not read, by their names or because a link leads out of it. */
  readonly onSkipped?: (path: string) => void;
  /** The formats to choose from. */
  readonly adapters?: readonly Adapter[];
}

const MAX_LISTED = 100;

/**
 * The traces of a file, a folder or bytes, one at a time. Records that cannot be read go to `onProblem`; without it they
 * are thrown together as one `UserError`, after every good trace was given.
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

/** As `readTraceItems`, in batches, one a chunk: a promise for every record would cost more than parsing it. */
export async function* readTraceBatches(
  source: string | Uint8Array,
  options: ReadOptions,
): AsyncGenerator<AdapterItem[]> {
  const adapters = options.adapters ?? ADAPTERS;
  const chosen = options.format === undefined ? undefined : adapterNamed(options.format, adapters);
  if (typeof source !== 'string') {
    yield* readOne(source, undefined, { adapters, chosen, signal: options.signal });
    return;
  }
  for (const file of await recordingFiles(source, options.onSkipped)) {
    yield* readOne(file, file, { adapters, chosen, signal: options.signal });
  }
}

function adapterNamed(format: string, adapters: readonly Adapter[]): Adapter {
  const found = adapters.find((adapter) => adapter.format === format);
  if (found !== undefined) return found;
  const names = adapters.map((adapter) => adapter.format);
  const meant = didYouMean(format, names);
  throw new UserError('TRACE_FORMAT_NAME', `there is no trace format "${format}"`, {
    hint: meant === undefined ? `formats: ${names.join(', ')}` : `did you mean "${meant}"?`,
  });
}

interface FileOptions {
  readonly adapters: readonly Adapter[];
  readonly chosen: Adapter | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* readOne(
  source: string | Uint8Array,
  file: string | undefined,
  { adapters, chosen, signal }: FileOptions,
): AsyncGenerator<AdapterItem[]> {
  const namedLines = file !== undefined && /\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file);
  const stream = new JsonStream({ unwrapKey: 'traces', namedLines });
  const reader = new RecordReader({ file, adapters, chosen });
  signal?.throwIfAborted();
  try {
    for await (const chunk of byteChunks(source)) {
      signal?.throwIfAborted();
      const items = reader.push(stream.push(chunk));
      if (items.length > 0) yield items;
    }
  } catch (error) {
    const problem = readFailure(error, file);
    if (problem === undefined) throw error;
    yield [...reader.push(stream.end()), ...reader.flush(), { ok: false, problem }];
    return;
  }
  yield [...reader.push(stream.end()), ...reader.end()];
}

/** A file that cannot be read to its end is a problem of that file; the others are still read. */
function readFailure(error: unknown, file: string | undefined): TraceProblem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const place = file === undefined ? {} : { file };
  if (error.code === 'Z_BUF_ERROR') return { code: 'TRACE_TRUNCATED', message: 'the gzip data end early', ...place };
  if (error.code.startsWith('Z_')) return { code: 'TRACE_BAD_GZIP', message: 'the gzip data are damaged', ...place };
  const isFileError = 'syscall' in error;
  return isFileError
    ? { code: 'TRACE_UNREADABLE', message: `cannot read the file (${error.code})`, ...place }
    : undefined;
}

const SAMPLE_RECORDS = 20;

const CODES: Readonly<Record<StreamProblem['reason'], string>> = {
  'bad-json': 'TRACE_BAD_JSON',
  truncated: 'TRACE_TRUNCATED',
  'too-large': 'TRACE_TOO_LARGE',
  'too-deep': 'TRACE_TOO_DEEP',
  'bad-utf8': 'TRACE_BAD_UTF8',
};

/** Turns the records of one file into items: waits for a sample, chooses the adapter, then passes records on. */
class RecordReader {
  readonly #file: string | undefined;
  readonly #adapters: readonly Adapter[];
  #adapter: Adapter | undefined;
  #waiting: StreamRecord[] = [];
  #isEmpty = true;

  constructor(options: { file: string | undefined; adapters: readonly Adapter[]; chosen: Adapter | undefined }) {
    this.#file = options.file;
    this.#adapters = options.adapters;
    this.#adapter = options.chosen;
  }

  push(records: readonly StreamRecord[]): AdapterItem[] {
    if (records.length === 0) return [];
    this.#isEmpty = false;
    if (this.#adapter?.unit === 'record') return this.#items(records);
    for (const record of records) this.#waiting.push(record);
    // The first chunk with a record decides: what is there is the sample, up to twenty records.
    if (this.#adapter === undefined && records.some((record) => record.ok)) this.#adapter = this.#choose();
    return this.#adapter?.unit === 'record' ? this.flush() : [];
  }

  /** What is left at the end of the file; a file without records says so. */
  end(): AdapterItem[] {
    if (!this.#isEmpty) return this.flush();
    return [{ ok: false, problem: { code: 'TRACE_EMPTY', message: 'the recording is empty', ...this.#place(1) } }];
  }

  flush(): AdapterItem[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    const adapter = this.#adapter;
    if (adapter?.unit !== 'file') return this.#items(waiting);
    const problems = waiting.flatMap((record) => (record.ok ? [] : [this.#broken(record)]));
    const raws = waiting.flatMap((record) => (record.ok ? [this.#raw(record, unwrap(record.value).value)] : []));
    return [...problems, ...(raws.length === 0 ? [] : adapter.read(raws))];
  }

  #choose(): Adapter {
    const sample: unknown[] = [];
    for (const record of this.#waiting) {
      if (record.ok) sample.push(record.value);
      if (sample.length === SAMPLE_RECORDS) break;
    }
    const whole = detectRecords(sample, this.#adapters);
    // A file may mix formats of single records: then its first record decides, and each other is asked for itself.
    const best = whole.format === undefined ? detectRecords(sample.slice(0, 1), this.#adapters) : whole;
    const isClear = best.candidates.length === 1;
    const found = isClear ? this.#adapters.find(({ format }) => format === best.format) : undefined;
    return found ?? unreadable(best, this.#adapters);
  }

  #items(records: readonly StreamRecord[]): AdapterItem[] {
    const items: AdapterItem[] = [];
    for (const record of records) {
      if (!record.ok) items.push(this.#broken(record));
      else this.#readRecord(record, items);
    }
    return items;
  }

  #readRecord(record: StreamRecord & { ok: true }, items: AdapterItem[]): void {
    const wrapped = unwrap(record.value);
    const raw = [this.#raw(record, wrapped.value)];
    const read = [...this.#adapter!.read(raw)];
    const failed = read.length === 1 && read[0]!.ok === false;
    const other = failed ? this.#otherAdapter(wrapped.value) : undefined;
    for (const item of other === undefined ? read : other.read(raw)) {
      items.push(item.ok ? { ok: true, trace: withTask(item.trace, wrapped) } : item);
    }
  }

  /** A record that its file's format refuses may be of another one. */
  #otherAdapter(value: unknown): Adapter | undefined {
    const { format, confidence, candidates } = detectRecords([value], this.#adapters);
    if (confidence < 0.5 || candidates.length > 1 || format === this.#adapter?.format) return undefined;
    return this.#adapters.find((adapter) => adapter.format === format && adapter.unit === 'record');
  }

  #raw(record: StreamRecord & { ok: true }, value: unknown): RawRecord {
    const { line, index } = record;
    return this.#file === undefined ? { value, line, index } : { value, line, index, file: this.#file };
  }

  #broken(problem: StreamProblem): AdapterItem {
    const { line, column, message, head } = problem;
    return {
      ok: false,
      problem: { code: CODES[problem.reason], message, ...this.#place(line), column, ...ownerOfText(head) },
    };
  }

  #place(line: number): Pick<TraceProblem, 'file' | 'line'> {
    return this.#file === undefined ? { line } : { file: this.#file, line };
  }
}

/** Answers every record of a file whose format is not clear with that problem, so that none is lost. */
function unreadable({ candidates }: Detection, adapters: readonly Adapter[]): Adapter {
  const isAmbiguous = candidates.length > 1;
  const names = (isAmbiguous ? candidates : adapters).map(({ format }) => format);
  const problem = isAmbiguous
    ? { code: 'TRACE_AMBIGUOUS_FORMAT', message: `the record could be ${names.join(' or ')}: name the format` }
    : { code: 'TRACE_UNKNOWN_FORMAT', message: `the record is in no known format (known: ${names.join(', ')})` };
  return {
    format: 'unknown',
    summary: problem.message,
    unit: 'record',
    detect: () => 0,
    read: (records) => records.map((record) => problemWith(record, problem)),
  };
}
