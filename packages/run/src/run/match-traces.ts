import { isObject } from '@agentci/lib/data';
import { didYouMean } from '@agentci/lib/text';
import { type Cell, caseKey, sameCell } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { queryText } from '@agentci/trace';

/** Enough recordings to name the nearest one. A spec with more misses has another problem. */
const MAX_REMEMBERED = 2000;

/** The fields of a query that matching needs. A result has them too. */
type Asked = Pick<Query, 'id' | 'query'> & { readonly cell?: Cell | undefined };

export type Match<Q extends Asked = Query> =
  | { readonly kind: 'run'; readonly query: Q; readonly run: number }
  | { readonly kind: 'surplus'; readonly query: Q }
  | { readonly kind: 'unused' };

/** A recorded run: its possible ids, its question and its place. */
export interface Recording {
  readonly ids: readonly string[];
  readonly text?: string | undefined;
  readonly place: string;
  /** The combination of the matrix, if the recording names it. */
  readonly cell?: Cell | undefined;
}

/**
 * Assigns streamed recordings to queries: by id first, then by exact text. If several queries share
 * a text, the nth takes the nth recording, and the cycle repeats for further runs.
 */
export class TraceMatcher<Q extends Asked = Query> {
  readonly #queries: readonly Q[];
  readonly #byId = new Map<string, Q>();
  /** Built when the first recording without a matching id appears. */
  #byText: ReadonlyMap<string, readonly Q[]> | undefined;
  readonly #taken = new Map<string, number>();
  readonly #runs: (query: Q) => number;
  readonly #unused: Recording[] = [];
  #unusedCount = 0;
  #hasCells = false;
  readonly #assumedCell: Cell | undefined;
  /** Recordings that would match a query if they named their cell. */
  readonly #cellless: string[] = [];

  /** `assumedCell` applies to recordings without a cell. */
  constructor(queries: readonly Q[], runs: (query: Q) => number, assumedCell?: Cell) {
    this.#queries = queries;
    this.#runs = runs;
    this.#assumedCell = assumedCell;
    for (const query of queries) {
      this.#byId.set(caseKey(query), query);
      if (query.cell !== undefined) this.#hasCells = true;
    }
  }

  /** Assigns a recording, or an unreadable record, to its query. */
  take(recording: Recording, isReadable = true): Match<Q> {
    const cell = this.#hasCells ? (recording.cell ?? this.#assumedCell) : undefined;
    const query = this.#named(recording.ids, cell) ?? this.#leastServed(recording.text, cell);
    if (!query) {
      if (this.#hasCells && cell === undefined && this.#cellless.length < MAX_REMEMBERED)
        this.#cellless.push(recording.place);
      // An unreadable record is reported as such, not as unused.
      if (!isReadable) return { kind: 'unused' };
      this.#unusedCount++;
      const { ids, text, place } = recording;
      if (this.#unused.length < MAX_REMEMBERED) this.#unused.push({ ids, text, place });
      return { kind: 'unused' };
    }
    return this.#give(query);
  }

  /** Like `take`, but also assigns it to every other query with the same text if no id decides. */
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

  /** Places of unused recordings, up to `limit`. */
  unusedPlaces(limit: number): string[] {
    return this.#unused.slice(0, limit).map((recording) => recording.place);
  }

  /** Describes the unused recording that was probably meant for a query. */
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

  /** Places of recordings without a cell, although the spec has a matrix. */
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

  /** Number of recordings assigned to a query. */
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

/** The identifying fields of a trace. */
export const recordingOf = (trace: Trace): Recording => new RecordingOfTrace(trace);

/** Most traces match by id, so the other fields are computed on demand. */
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

/** The cell of a trace: `metadata.cell` of the recording, a map of texts. */
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

/** `traces.jsonl:12`, or the part of it that is known. */
function placeOf(trace: Trace): string {
  const { file, line } = trace.source;
  if (file === undefined) return trace.id;
  return line === undefined ? file : `${file}:${line}`;
}
