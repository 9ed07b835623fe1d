import { isObject } from '@agentci/lib/data';
import { didYouMean } from '@agentci/lib/text';
import { type Cell, caseKey, sameCell } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { queryText } from '@agentci/trace';

/** Enough recordings to name the nearest one; a spec with more misses than this has another problem. */
const MAX_REMEMBERED = 2000;

/** All that matching needs of a query; a result has it too. */
type Asked = Pick<Query, 'id' | 'query'> & { readonly cell?: Cell | undefined };

export type Match<Q extends Asked = Query> =
  | { readonly kind: 'run'; readonly query: Q; readonly run: number }
  | { readonly kind: 'surplus'; readonly query: Q }
  | { readonly kind: 'unused' };

/** A recorded run: the ids it may go by, the question asked, and where it was found. */
export interface Recording {
  readonly ids: readonly string[];
  readonly text?: string | undefined;
  readonly place: string;
  /** The combination of the matrix that was run, where the recording says it. */
  readonly cell?: Cell | undefined;
}

/**
 * Gives recordings to queries as they stream by: by id first, then by exact text. Of several queries with one text the
 * nth takes the nth recording, and the turn goes round again for further runs.
 */
export class TraceMatcher<Q extends Asked = Query> {
  readonly #queries: readonly Q[];
  readonly #byId = new Map<string, Q>();
  /** Made when a recording is met that no id leads to. */
  #byText: ReadonlyMap<string, readonly Q[]> | undefined;
  readonly #taken = new Map<string, number>();
  readonly #runs: (query: Q) => number;
  readonly #unused: Recording[] = [];
  #unusedCount = 0;
  #hasCells = false;
  readonly #assumedCell: Cell | undefined;
  /** Recordings that would be of a query if they said of which cell. */
  readonly #cellless: string[] = [];

  /** `assumedCell` is that of recordings that say none. */
  constructor(queries: readonly Q[], runs: (query: Q) => number, assumedCell?: Cell) {
    this.#queries = queries;
    this.#runs = runs;
    this.#assumedCell = assumedCell;
    for (const query of queries) {
      this.#byId.set(caseKey(query), query);
      if (query.cell !== undefined) this.#hasCells = true;
    }
  }

  /** Gives a recording, or a record that could not be read, to the query it names. */
  take(recording: Recording, isReadable = true): Match<Q> {
    const cell = this.#hasCells ? (recording.cell ?? this.#assumedCell) : undefined;
    const query = this.#named(recording.ids, cell) ?? this.#leastServed(recording.text, cell);
    if (!query) {
      if (this.#hasCells && cell === undefined && this.#cellless.length < MAX_REMEMBERED)
        this.#cellless.push(recording.place);
      // What could not be read is reported as such, not as an unused recording.
      if (!isReadable) return { kind: 'unused' };
      this.#unusedCount++;
      const { ids, text, place } = recording;
      if (this.#unused.length < MAX_REMEMBERED) this.#unused.push({ ids, text, place });
      return { kind: 'unused' };
    }
    return this.#give(query);
  }

  /** As `take`, and for every other query with the same text, where no id says which one is meant. */
  takeForAll(recording: Recording, isReadable = true): readonly Match<Q>[] {
    const cell = this.#hasCells ? (recording.cell ?? this.#assumedCell) : undefined;
    if (recording.text === undefined || this.#named(recording.ids, cell) !== undefined)
      return [this.take(recording, isReadable)];
    this.#byText ??= groupByText(this.#queries);
    const sharing = (this.#byText.get(recording.text) ?? []).filter((query) =>
      sameCell(query.cell, cell),
    );
    return sharing.length < 2
      ? [this.take(recording, isReadable)]
      : sharing.map((query) => this.#give(query));
  }

  #give(query: Q): Match<Q> {
    const key = caseKey(query);
    const run = (this.#taken.get(key) ?? 0) + 1;
    this.#taken.set(key, run);
    return run > this.#runs(query) ? { kind: 'surplus', query } : { kind: 'run', query, run };
  }

  get unusedCount(): number {
    return this.#unusedCount;
  }

  /** Places of recordings no query asked for, a few of them. */
  unusedPlaces(limit: number): string[] {
    return this.#unused.slice(0, limit).map((recording) => recording.place);
  }

  /** The unused recording that was probably meant for a query, in words. */
  nearest(query: Asked): string | undefined {
    const byId = didYouMean(
      query.id,
      this.#unused.flatMap((recording) => recording.ids),
    );
    if (byId !== undefined) return `recording with id "${byId}"`;
    const text = didYouMean(
      query.query,
      this.#unused.flatMap((recording) => recording.text ?? []),
    );
    return text === undefined ? undefined : `recording of "${text.slice(0, 120)}"`;
  }

  /** Where the recordings are that say no cell, though the spec has a matrix. */
  get cellless(): readonly string[] {
    return this.#cellless;
  }

  #named(ids: readonly string[], cell: Cell | undefined): Q | undefined {
    for (const id of ids) {
      const query = this.#byId.get(caseKey({ id, cell }));
      if (query !== undefined) return query;
    }
    return undefined;
  }

  #leastServed(text: string | undefined, cell: Cell | undefined): Q | undefined {
    if (text === undefined) return undefined;
    this.#byText ??= groupByText(this.#queries);
    let best: Q | undefined;
    for (const query of this.#byText.get(text) ?? []) {
      if (!sameCell(query.cell, cell)) continue;
      if (best === undefined || this.takenBy(query) < this.takenBy(best)) best = query;
    }
    return best;
  }

  /** How many recordings a query was given. */
  takenBy(query: Q): number {
    return this.#taken.get(caseKey(query)) ?? 0;
  }
}

function groupByText<Q extends Asked>(queries: readonly Q[]): Map<string, Q[]> {
  const groups = new Map<string, Q[]>();
  for (const query of queries) {
    const sameText = groups.get(query.query);
    if (sameText) sameText.push(query);
    else groups.set(query.query, [query]);
  }
  return groups;
}

/** What a trace says of the query it belongs to. */
export const recordingOf = (trace: Trace): Recording => new RecordingOfTrace(trace);

/** Most traces are found by their ids, and nothing else is asked of them. */
class RecordingOfTrace implements Recording {
  readonly ids: readonly string[];
  readonly #trace: Trace;

  constructor(trace: Trace) {
    const { id, task } = trace;
    this.ids = task?.id === undefined ? [id] : [task.id, id];
    this.#trace = trace;
  }

  get text(): string | undefined {
    return this.#trace.conversation?.turns[0]?.message ?? queryText(this.#trace);
  }

  get place(): string {
    return placeOf(this.#trace);
  }

  get cell(): Cell | undefined {
    return cellOf(this.#trace);
  }
}

/** The cell that a trace says it is of: `metadata.cell` of the recording, a map of texts. */
export function cellOf({ meta }: Trace): Cell | undefined {
  const { cell } = meta;
  if (!isObject(cell)) return undefined;
  const entries = Object.entries(cell);
  const isPlain = entries.every(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return isPlain && entries.length > 0
    ? Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
    : undefined;
}

/** `traces.jsonl:12`, or what is known of it. */
function placeOf(trace: Trace): string {
  const { file, line } = trace.source;
  if (file === undefined) return trace.id;
  return line === undefined ? file : `${file}:${line}`;
}
