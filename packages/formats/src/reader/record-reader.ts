import type { StreamProblem, StreamRecord, StreamValue } from '@agentci/lib/json';
import { findDuplicateKey } from '@agentci/lib/json';
import type {
  Adapter,
  AdapterItem,
  RawRecord,
  RecordSession,
  TraceProblem,
  Unit,
} from '../adapter.ts';
import { readSimple, adapter as simple } from '../formats/simple/simple.ts';
import { ownerOf, ownerOfText } from '../problem.ts';
import { type AdapterList, chooseAdapter, unitOf, unreadable } from './choose-adapter.ts';
import { detectRecords } from './detect-records.ts';
import { withHints } from './hints.ts';
import { withHole } from './hole.ts';
import { readInteractions } from './read-interactions.ts';
import { isPlausible, notFormat, recognises } from './recognise.ts';
import { unwrap, withTask } from './unwrap.ts';

/** Written by our own programs, or by people who keep to our form. */
const OWN: ReadonlySet<string> = new Set(['agentci', 'simple']);
const SAMPLE_RECORDS = 20;

const CODES: Readonly<Record<StreamProblem['reason'], string>> = {
  'bad-json': 'TRACE_DAMAGED',
  truncated: 'TRACE_DAMAGED',
  'too-large': 'TRACE_TOO_LARGE',
  'too-deep': 'TRACE_TOO_LARGE',
  'bad-utf8': 'TRACE_DAMAGED',
};

/**
 * Turns the records of one file into items: collects a sample, chooses the adapter, then passes
 * records on.
 */
export class RecordReader {
  readonly #file: string | undefined;
  readonly #adapters: AdapterList;
  /** The format someone named. */
  readonly #chosen: Adapter | undefined;
  #adapter: Adapter | undefined;
  /** Every format, loaded if the file is not in our own. */
  #known: readonly Adapter[] = [];
  /** Whether the container already determined the format of its records. */
  #isTold = false;
  #unit: Unit | undefined;
  #session: RecordSession | undefined;
  #waiting: StreamRecord[] = [];
  #isEmpty = true;
  #batches = 0;
  #hasHole = false;
  #onlyBatch: readonly RawRecord[] | undefined;

  constructor(options: {
    file: string | undefined;
    adapters: AdapterList;
    chosen: Adapter | undefined;
  }) {
    this.#file = options.file;
    this.#adapters = options.adapters;
    this.#chosen = options.chosen;
  }

  async push(records: readonly StreamRecord[]): Promise<AdapterItem[]> {
    if (records.length === 0) return [];
    this.#isEmpty = false;
    if (this.#unit === 'record') return this.#items(records);
    if (this.#session !== undefined) return this.#feed(this.#session, records);
    for (const record of records) this.#waiting.push(record);
    // The sample is the first chunk with a record, up to twenty records.
    if (this.#unit === undefined && records.some((record) => record.ok)) await this.#decide();
    return this.#isStreaming() ? this.flush() : [];
  }

  /** Whether record texts are still needed, which they are not for our own format. */
  get wantsText(): boolean {
    return this.#adapter === undefined || !OWN.has(this.#adapter.format);
  }

  /** Whether items can be emitted before the file ends. */
  #isStreaming(): boolean {
    return this.#unit === 'record' || this.#session !== undefined;
  }

  /** Sets the format before reading, because some containers belong to one. */
  async choose(format: string): Promise<void> {
    this.#isEmpty = false;
    this.#known = await this.#adapters();
    this.#adapter = this.#known.find((adapter) => adapter.format === format);
    this.#isTold = this.#chosen === undefined || this.#chosen.format === format;
  }

  /** Reads model calls among other recorded requests, each in its own format. */
  async readRequests(records: readonly StreamValue[]): Promise<AdapterItem[]> {
    this.#isEmpty = false;
    const raws = records.map((record) => this.#raw(record, record.value));
    return readInteractions(raws, await this.#adapters(), this.#chosen);
  }

  /** Emits the rest at the end of the file. A file without records is a problem. */
  async end(): Promise<AdapterItem[]> {
    if (!this.#isEmpty) {
      const flushed = await this.flush();
      const rest = [...(this.#session?.end() ?? [])];
      const hinted = this.#onlyBatch === undefined ? rest : withHints(rest, this.#onlyBatch);
      return [...flushed, ...this.#holed(hinted)];
    }
    return [this.problem({ code: 'TRACE_DAMAGED', message: 'the recording is empty', line: 1 })];
  }

  async flush(): Promise<AdapterItem[]> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#session !== undefined) return this.#feed(this.#session, waiting);
    if (this.#unit !== 'file') return this.#items(waiting);
    const { raws, problems } = this.#apart(waiting);
    if (raws.length === 0) return problems;
    const items = withHints([...this.#adapter!.read(raws)], raws);
    return [...problems, ...this.#holed(items, problems)];
  }

  /** A problem of this file. */
  problem(problem: Pick<TraceProblem, 'code' | 'message' | 'line'>): AdapterItem {
    this.#isEmpty = false;
    return {
      ok: false,
      problem: { ...problem, file: this.#file },
    };
  }

  #feed(session: RecordSession, records: readonly StreamRecord[]): AdapterItem[] {
    const { raws, problems } = this.#apart(records);
    // Runs of a file larger than one batch are emitted while it is read.
    if (raws.length > 0) this.#onlyBatch = this.#batches++ === 0 ? raws : undefined;
    const items = raws.length === 0 ? [] : [...session.push(raws)];
    return [...problems, ...this.#holed(items, problems)];
  }

  /** Records of one run are read together, so an unreadable one leaves a gap. */
  #holed(items: readonly AdapterItem[], problems: readonly AdapterItem[] = []): AdapterItem[] {
    this.#hasHole ||= problems.length > 0;
    return this.#hasHole
      ? items.map((item) => (item.ok ? { ok: true, trace: withHole(item.trace) } : item))
      : [...items];
  }

  #apart(records: readonly StreamRecord[]): { raws: RawRecord[]; problems: AdapterItem[] } {
    const raws: RawRecord[] = [];
    const problems: AdapterItem[] = [];
    for (const record of records) {
      const problem = record.ok ? this.#saidTwice(record) : this.#broken(record);
      if (problem !== undefined || !record.ok) {
        if (problem !== undefined) problems.push(problem);
        continue;
      }
      const raw = this.#raw(record, unwrap(record.value).value);
      if (this.#isOwn(raw.value)) raws.push(raw);
      else problems.push(notFormat(raw, this.#adapter!, this.#known));
    }
    return { raws, problems };
  }

  async #decide(): Promise<void> {
    const sample: unknown[] = [];
    for (const record of this.#waiting) {
      if (record.ok) sample.push(record.value);
      if (sample.length === SAMPLE_RECORDS) break;
    }
    this.#adapter ??= await this.#choose(sample);
    if (!OWN.has(this.#adapter.format) || this.#chosen !== undefined)
      this.#known = await this.#adapters();
    const values = sample.map((value) => unwrap(value).value);
    const own = OWN.has(this.#adapter.format)
      ? values
      : values.filter((value) => this.#isOwn(value));
    this.#unit = unitOf(this.#adapter, own.length === 0 ? values : own);
    if (this.#unit === 'file') this.#session = this.#adapter.open?.();
  }

  async #choose(sample: readonly unknown[]): Promise<Adapter> {
    const chosen = this.#chosen;
    if (chosen !== undefined) {
      const known = await this.#adapters();
      const values = sample.map((value) => unwrap(value).value);
      return isPlausible(chosen, values, known) ? chosen : refusing(chosen, known);
    }
    // Quoted words among lines that are not JSON are a text, not answers.
    const isText =
      sample.every((value) => typeof value === 'string') &&
      this.#waiting.some((record) => !record.ok);
    if (isText)
      return unreadable(
        { format: undefined, confidence: 0, candidates: [] },
        await this.#adapters(),
      );
    return chooseAdapter(sample, this.#adapters);
  }

  /** Whether a record can belong to this file. */
  #isOwn(value: unknown): boolean {
    return this.#isTold || recognises(this.#adapter!, value, this.#known);
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

  /** Refuses a record with a duplicate key, which readers interpret differently. */
  #saidTwice({ text, line, value }: StreamValue): AdapterItem | undefined {
    // Our own writers cannot produce duplicate keys, and checking would cost as much as reading.
    if (text === undefined || OWN.has(this.#adapter!.format)) return undefined;
    const found = findDuplicateKey(text);
    if (found === undefined) return undefined;
    const before = text.slice(0, found.offset);
    const breaks = before.split('\n').length - 1;
    return {
      ok: false,
      problem: {
        code: 'TRACE_DAMAGED',
        message: `the key ${JSON.stringify(found.key.slice(0, 80))} appears twice in one object`,
        line: line + breaks,
        column: before.length - before.lastIndexOf('\n'),
        file: this.#file,
        ...ownerOf(value),
      },
    };
  }

  /** Like `#readRecord`, for the frequent simple form: no lists around single records. */
  #readPlain(record: StreamValue, items: AdapterItem[]): boolean {
    const wrapped = unwrap(record.value);
    if (this.#chosen !== undefined && !this.#isOwn(wrapped.value)) return false;
    const item = readSimple(this.#raw(record, wrapped.value));
    if (item.ok)
      items.push(
        wrapped.value === record.value ? item : { ok: true, trace: withTask(item.trace, wrapped) },
      );
    return item.ok;
  }

  /** False when the record is refused: it may be of another format than its file. */
  #readRecord(record: StreamValue, items: AdapterItem[]): boolean {
    const wrapped = unwrap(record.value);
    if (!OWN.has(this.#adapter!.format) && !this.#isOwn(wrapped.value)) return false;
    const raw = [this.#raw(record, wrapped.value)];
    const given = [...this.#adapter!.read(raw)];
    const read = OWN.has(this.#adapter!.format) ? given : withHints(given, raw);
    if (read.length === 1 && read[0]!.ok === false) return false;
    for (const item of read)
      items.push(item.ok ? { ok: true, trace: withTask(item.trace, wrapped) } : item);
    return true;
  }

  async #readAgain(record: StreamValue, items: AdapterItem[]): Promise<void> {
    const wrapped = unwrap(record.value);
    const raw = this.#raw(record, wrapped.value);
    const other = this.#chosen === undefined ? await this.#otherAdapter(wrapped.value) : undefined;
    const isForeign =
      other === undefined && (this.#chosen !== undefined || !OWN.has(this.#adapter!.format));
    if (isForeign && !this.#isOwn(raw.value)) {
      items.push(notFormat(raw, this.#adapter!, this.#known));
      return;
    }
    const adapter = other ?? this.#adapter!;
    const given = [...adapter.read([raw])];
    for (const item of OWN.has(adapter.format) ? given : withHints(given, [raw]))
      items.push(item.ok ? { ok: true, trace: withTask(item.trace, wrapped) } : item);
  }

  async #otherAdapter(value: unknown): Promise<Adapter | undefined> {
    // A bare text is an answer only in a file of answers.
    if (typeof value === 'string') return undefined;
    const adapters = await this.#adapters();
    const { format, confidence, candidates } = detectRecords([value], adapters);
    if (confidence < 0.5 || candidates.length > 1 || format === this.#adapter?.format)
      return undefined;
    return adapters.find(
      (adapter) => adapter.format === format && unitOf(adapter, [value]) === 'record',
    );
  }

  #raw(record: StreamValue, value: unknown): RawRecord {
    const { line, index } = record;
    return this.#file === undefined
      ? { value, line, index }
      : { value, line, index, file: this.#file };
  }

  #broken(problem: StreamProblem): AdapterItem {
    const { line, column, message, head } = problem;
    const place = this.#file === undefined ? { line } : { file: this.#file, line };
    return {
      ok: false,
      problem: { code: CODES[problem.reason], message, ...place, column, ...ownerOfText(head) },
    };
  }
}

/** Refuses every record of a file that is plainly not in the format someone named. */
const refusing = (chosen: Adapter, known: readonly Adapter[]): Adapter => ({
  ...chosen,
  unit: 'record',
  recognises: () => true,
  read: (records) => records.map((record) => notFormat(record, chosen, known)),
});
