import { findDuplicateKey } from '../../kit/json-keys.ts';
import type { StreamProblem, StreamRecord, StreamValue } from '../../kit/json-stream.ts';
import { isFields } from '../../trace/fields.ts';
import { isNativeTrace } from '../../trace/upgrade.ts';
import type { Adapter, AdapterItem, RawRecord, RecordSession, TraceProblem, Unit } from '../adapter.ts';
import { readSimple, adapter as simple } from '../formats/simple/simple.ts';
import { ownerOf, ownerOfText, problemWith } from '../problem.ts';
import { type Detection, detectRecords } from './detect-records.ts';
import { unwrap, withTask } from './unwrap.ts';

/** The formats to choose from; loaded when they are needed. */
export type AdapterList = () => Promise<readonly Adapter[]>;

/** Written by our own programs, or by people who keep to our form. */
const OWN: ReadonlySet<string> = new Set(['agentci', 'simple']);
/** A file so clearly in a format of our own that no other one needs to be asked. */
const OWN_SURE = 0.85;
const SAMPLE_RECORDS = 20;

const CODES: Readonly<Record<StreamProblem['reason'], string>> = {
  'bad-json': 'TRACE_BAD_JSON',
  truncated: 'TRACE_TRUNCATED',
  'too-large': 'TRACE_TOO_LARGE',
  'too-deep': 'TRACE_TOO_DEEP',
  'bad-utf8': 'TRACE_BAD_UTF8',
};

/** Turns the records of one file into items: waits for a sample, chooses the adapter, then passes records on. */
export class RecordReader {
  readonly #file: string | undefined;
  readonly #adapters: AdapterList;
  #adapter: Adapter | undefined;
  #unit: Unit | undefined;
  #session: RecordSession | undefined;
  #waiting: StreamRecord[] = [];
  #isEmpty = true;

  constructor(options: { file: string | undefined; adapters: AdapterList; chosen: Adapter | undefined }) {
    this.#file = options.file;
    this.#adapters = options.adapters;
    this.#adapter = options.chosen;
  }

  async push(records: readonly StreamRecord[]): Promise<AdapterItem[]> {
    if (records.length === 0) return [];
    this.#isEmpty = false;
    if (this.#unit === 'record') return this.#items(records);
    if (this.#session !== undefined) return this.#feed(this.#session, records);
    for (const record of records) this.#waiting.push(record);
    // The first chunk with a record decides: what is there is the sample, up to twenty records.
    if (this.#unit === undefined && records.some((record) => record.ok)) await this.#decide();
    return this.#isStreaming() ? this.flush() : [];
  }

  /** Whether the text of records is still of use: not once the file is known to be one of ours. */
  get wantsText(): boolean {
    return this.#adapter === undefined || !OWN.has(this.#adapter.format);
  }

  /** Whether items can come out before the file ends. */
  #isStreaming(): boolean {
    return this.#unit === 'record' || this.#session !== undefined;
  }

  /** Names the format before anything is read: some containers are part of one. */
  async choose(format: string): Promise<void> {
    this.#isEmpty = false;
    this.#adapter ??= (await this.#adapters()).find((adapter) => adapter.format === format);
  }

  /** What is left at the end of the file; a file without records says so. */
  async end(): Promise<AdapterItem[]> {
    if (!this.#isEmpty) return [...(await this.flush()), ...(this.#session?.end() ?? [])];
    return [this.problem({ code: 'TRACE_EMPTY', message: 'the recording is empty', line: 1 })];
  }

  async flush(): Promise<AdapterItem[]> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#session !== undefined) return this.#feed(this.#session, waiting);
    if (this.#unit !== 'file') return this.#items(waiting);
    const { raws, problems } = this.#apart(waiting);
    return [...problems, ...(raws.length === 0 ? [] : this.#adapter!.read(raws))];
  }

  /** A problem of this file. */
  problem(problem: Pick<TraceProblem, 'code' | 'message' | 'line'>): AdapterItem {
    this.#isEmpty = false;
    return { ok: false, problem: { ...problem, ...(this.#file === undefined ? {} : { file: this.#file }) } };
  }

  #feed(session: RecordSession, records: readonly StreamRecord[]): AdapterItem[] {
    const { raws, problems } = this.#apart(records);
    return [...problems, ...(raws.length === 0 ? [] : session.push(raws))];
  }

  #apart(records: readonly StreamRecord[]): { raws: RawRecord[]; problems: AdapterItem[] } {
    const raws: RawRecord[] = [];
    const problems: AdapterItem[] = [];
    for (const record of records) {
      const twice = record.ok ? this.#saidTwice(record) : undefined;
      if (twice !== undefined) problems.push(twice);
      else if (record.ok) raws.push(this.#raw(record, unwrap(record.value).value));
      else problems.push(this.#broken(record));
    }
    return { raws, problems };
  }

  async #decide(): Promise<void> {
    const sample: unknown[] = [];
    for (const record of this.#waiting) {
      if (record.ok) sample.push(record.value);
      if (sample.length === SAMPLE_RECORDS) break;
    }
    this.#adapter ??= await this.#detect(sample);
    const { unit, open } = this.#adapter;
    this.#unit = typeof unit === 'string' ? unit : unit(sample.map((value) => unwrap(value).value));
    if (this.#unit === 'file') this.#session = open?.();
  }

  async #detect(sample: readonly unknown[]): Promise<Adapter> {
    const values = sample.map((value) => unwrap(value).value);
    if (simple.detect(values) >= OWN_SURE) return simple;
    // Its schema is of no use to anybody else, so it is loaded with it.
    if (values.every(isNativeTrace)) return (await import('../formats/agentci/agentci.ts')).adapter;
    const adapters = await this.#adapters();
    const whole = detectRecords(sample, adapters);
    // A file may mix formats of single records: then its first record decides, and each other is asked for itself.
    const best = whole.format === undefined ? detectRecords(sample.slice(0, 1), adapters) : whole;
    const isClear = best.candidates.length === 1;
    const found = isClear ? adapters.find(({ format }) => format === best.format) : undefined;
    // Records that are read together are of one format: one that does not fit would be left out without a word.
    const isMixed = whole.format === undefined && found !== undefined && unitOf(found, sample) === 'file';
    return found === undefined || isMixed ? unreadable(isMixed ? whole : best, adapters) : found;
  }

  async #items(records: readonly StreamRecord[]): Promise<AdapterItem[]> {
    const items: AdapterItem[] = [];
    const isSimple = this.#adapter === simple;
    for (const record of records) {
      const twice = record.ok && !isSimple ? this.#saidTwice(record) : undefined;
      if (twice !== undefined) items.push(twice);
      else if (!record.ok) items.push(this.#broken(record));
      else if (!(isSimple ? this.#readPlain(record, items) : this.#readRecord(record, items)))
        await this.#readAgain(record, items);
    }
    return items;
  }

  /** A record that says two things under one key is read one way here and another way elsewhere: it is refused. */
  #saidTwice({ text, line, value }: StreamValue): AdapterItem | undefined {
    // Records of our own are written by programs that cannot; looking would cost as much as reading them.
    if (text === undefined || OWN.has(this.#adapter!.format)) return undefined;
    const found = findDuplicateKey(text);
    if (found === undefined) return undefined;
    const before = text.slice(0, found.offset);
    const breaks = before.split('\n').length - 1;
    return {
      ok: false,
      problem: {
        code: 'TRACE_DUPLICATE_KEY',
        message: `the key ${JSON.stringify(found.key.slice(0, 80))} stands twice in one object`,
        line: line + breaks,
        column: before.length - before.lastIndexOf('\n'),
        ...(this.#file === undefined ? {} : { file: this.#file }),
        ...ownerOf(value),
      },
    };
  }

  /** As `#readRecord` for the simple form, which comes in hundreds of thousands: no lists around single records. */
  #readPlain(record: StreamValue, items: AdapterItem[]): boolean {
    const wrapped = unwrap(record.value);
    const item = readSimple(this.#raw(record, wrapped.value));
    if (item.ok) items.push(wrapped.value === record.value ? item : { ok: true, trace: withTask(item.trace, wrapped) });
    return item.ok;
  }

  /** False when the record is refused: it may be of another format than its file. */
  #readRecord(record: StreamValue, items: AdapterItem[]): boolean {
    const wrapped = unwrap(record.value);
    const read = [...this.#adapter!.read([this.#raw(record, wrapped.value)])];
    if (read.length === 1 && read[0]!.ok === false) return false;
    for (const item of read) items.push(item.ok ? { ok: true, trace: withTask(item.trace, wrapped) } : item);
    return true;
  }

  async #readAgain(record: StreamValue, items: AdapterItem[]): Promise<void> {
    const wrapped = unwrap(record.value);
    const raw = [this.#raw(record, wrapped.value)];
    const adapter = (await this.#otherAdapter(wrapped.value)) ?? this.#adapter!;
    for (const item of adapter.read(raw))
      items.push(item.ok ? { ok: true, trace: withTask(item.trace, wrapped) } : item);
  }

  async #otherAdapter(value: unknown): Promise<Adapter | undefined> {
    const adapters = await this.#adapters();
    const { format, confidence, candidates } = detectRecords([value], adapters);
    if (confidence < 0.5 || candidates.length > 1 || format === this.#adapter?.format) return undefined;
    return adapters.find((adapter) => adapter.format === format && unitOf(adapter, [value]) === 'record');
  }

  #raw(record: StreamValue, value: unknown): RawRecord {
    const { line, index } = record;
    return this.#file === undefined ? { value, line, index } : { value, line, index, file: this.#file };
  }

  #broken(problem: StreamProblem): AdapterItem {
    const { line, column, message, head } = problem;
    const place = this.#file === undefined ? { line } : { file: this.#file, line };
    return { ok: false, problem: { code: CODES[problem.reason], message, ...place, column, ...ownerOfText(head) } };
  }
}

const unitOf = ({ unit }: Adapter, sample: readonly unknown[]): Unit =>
  typeof unit === 'string' ? unit : unit(sample);

/** Answers every record of a file whose format is not clear with that problem, so that none is lost. */
function unreadable({ candidates }: Detection, adapters: readonly Adapter[]): Adapter {
  const isAmbiguous = candidates.length > 1;
  const names = (isAmbiguous ? candidates : adapters).map(({ format }) => format);
  const problemOf = (value: unknown) =>
    isAmbiguous
      ? { code: 'TRACE_AMBIGUOUS_FORMAT', message: `the record could be ${names.join(' or ')}: name the format` }
      : {
          code: 'TRACE_UNKNOWN_FORMAT',
          message: `the record is in no known format: it is ${shapeOf(value)} (known: ${names.join(', ')})`,
        };
  return {
    format: 'unknown',
    summary: 'a format that is not clear',
    unit: 'record',
    detect: () => 0,
    read: (records) => records.map((record) => problemWith(record, problemOf(record.value))),
  };
}

const MAX_KEYS = 8;

/** What a record looks like, to see what it is instead. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value === null) return 'null';
  if (!isFields(value)) return `the ${typeof value} ${JSON.stringify(value).slice(0, 60)}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'an object without keys';
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  return `an object with ${keys
    .slice(0, MAX_KEYS)
    .map((key) => JSON.stringify(key.slice(0, 40)))
    .join(', ')}${more}`;
}
