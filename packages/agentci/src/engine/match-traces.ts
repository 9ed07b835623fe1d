import { didYouMean } from '../kit/did-you-mean.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import { queryText } from '../trace/selectors.ts';

/** Enough recordings to name the nearest one; a spec with more misses than this has another problem. */
const MAX_REMEMBERED = 2000;

/** All that matching needs of a query; a result has it too. */
type Asked = Pick<Query, 'id' | 'query'>;

export type Match<Q extends Asked = Query> =
  | { readonly kind: 'run'; readonly query: Q; readonly run: number }
  | { readonly kind: 'surplus'; readonly query: Q }
  | { readonly kind: 'unused' };

/** A recorded run: the ids it may go by, the question asked, and where it was found. */
export interface Recording {
  readonly ids: readonly string[];
  readonly text?: string | undefined;
  readonly place: string;
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

  constructor(queries: readonly Q[], runs: (query: Q) => number) {
    this.#queries = queries;
    this.#runs = runs;
    for (const query of queries) this.#byId.set(query.id, query);
  }

  /** Gives a recording, or a record that could not be read, to the query it names. */
  take(recording: Recording, isReadable = true): Match<Q> {
    const query = this.#named(recording.ids) ?? this.#leastServed(recording.text);
    if (!query) {
      // What could not be read is reported as such, not as an unused recording.
      if (!isReadable) return { kind: 'unused' };
      this.#unusedCount++;
      const { ids, text, place } = recording;
      if (this.#unused.length < MAX_REMEMBERED) this.#unused.push({ ids, text, place });
      return { kind: 'unused' };
    }
    const run = (this.#taken.get(query.id) ?? 0) + 1;
    this.#taken.set(query.id, run);
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

  #named(ids: readonly string[]): Q | undefined {
    for (const id of ids) {
      const query = this.#byId.get(id);
      if (query !== undefined) return query;
    }
    return undefined;
  }

  #leastServed(text: string | undefined): Q | undefined {
    if (text === undefined) return undefined;
    this.#byText ??= groupByText(this.#queries);
    let best: Q | undefined;
    for (const query of this.#byText.get(text) ?? []) {
      if (best === undefined || (this.#taken.get(query.id) ?? 0) < (this.#taken.get(best.id) ?? 0)) best = query;
    }
    return best;
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
    return queryText(this.#trace);
  }

  get place(): string {
    return placeOf(this.#trace);
  }
}

/** `traces.jsonl:12`, or what is known of it. */
function placeOf(trace: Trace): string {
  const { file, line } = trace.source;
  if (file === undefined) return trace.id;
  return line === undefined ? file : `${file}:${line}`;
}
