import type { AdapterItem, TraceProblem } from '@agentci/formats';
import { readTraceBatches } from '@agentci/formats';
import type { CheckResult, QueryResult } from '@agentci/results';
import { type Cell, caseKey, cellText, sameCell } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { errorResult } from './combine-runs.ts';
import type { Ledger } from './ledger.ts';
import { type Match, type Recording, recordingOf, TraceMatcher } from './match-traces.ts';
import type { RunOptions } from './run-options.ts';
import type { SourcedOutcome, SourcedRun, SourceReport, TraceSource } from './source.ts';
import { problemText, unreadable } from './unreadable.ts';

const MAX_NAMED = 5;

/** Matches streamed recordings with the queries. Keeps none after its verdict is recorded. */
export class RecordedSource implements TraceSource {
  readonly workers: number;
  readonly isPaid = false;
  readonly #options: RunOptions;
  readonly #traces: NonNullable<RunOptions['traces']>;
  readonly #queries: readonly Query[];
  readonly #ledger: Ledger;
  readonly #selected: ReadonlySet<string>;
  readonly #matcher: TraceMatcher;
  /** Places of recordings beyond a query's `runs`. */
  readonly #surplus = new Map<Query, string[]>();
  /** Queries with an unreadable record. */
  readonly #broken = new Set<Query>();
  readonly #checks: CheckResult[] = [];
  readonly #skipped: string[] = [];

  constructor(
    options: RunOptions,
    traces: NonNullable<RunOptions['traces']>,
    queries: readonly Query[],
    ledger: Ledger,
  ) {
    // With --fail-fast nothing is judged after the first failure.
    this.workers = options.failFast ? 1 : (options.workers ?? 4);
    this.#options = options;
    this.#traces = traces;
    this.#queries = queries;
    this.#ledger = ledger;
    this.#selected = new Set(queries.map(caseKey));
    this.#matcher = new TraceMatcher(
      options.suite.queries,
      ledger.runsOf,
      onlyCell(queries, options),
    );
  }

  async *runs(): AsyncGenerator<SourcedRun> {
    for await (const batch of batches(this.#traces, this.#options, (path) =>
      this.#skipped.push(path),
    ))
      for (const item of batch) {
        if (this.#ledger.stopped()) return;
        yield* this.#runsIn(item);
      }
    if (!this.#ledger.stopped()) yield* this.#missing();
  }

  async close(): Promise<SourceReport> {
    return {
      checks: this.#checks,
      notices: [...skippedNotice(this.#skipped), ...unusedNotice(this.#matcher)],
      unmatched: this.#matcher.unusedCount,
      overruled: [...this.#surplus]
        // The unreadable record is the reason to report. It may also explain the surplus.
        .filter(([query]) => !this.#broken.has(query))
        .map(([query, places]) => ({ query, error: tooMany(places, this.#ledger.runsOf(query)) })),
    };
  }

  *#runsIn(item: AdapterItem): Generator<SourcedRun> {
    const recording = item.ok ? recordingOf(item.trace) : recordingOfProblem(item.problem);
    const matches =
      this.#options.suite.sharesRecordings === true
        ? this.#matcher.takeForAll(recording, item.ok)
        : [this.#matcher.take(recording, item.ok)];
    for (const match of matches) {
      const run = this.#runOf(item, recording, match);
      if (run !== undefined) yield run;
    }
  }

  #runOf(item: AdapterItem, recording: Recording, match: Match): SourcedRun | undefined {
    if (match.kind === 'unused') {
      if (!item.ok) this.#checks.push(unreadable(item.problem));
      return undefined;
    }
    const { query } = match;
    if (!this.#selected.has(caseKey(query)) || query.skip !== undefined) return undefined;
    if (match.kind === 'surplus') {
      this.#surplus.set(query, [...(this.#surplus.get(query) ?? []), recording.place]);
      return undefined;
    }
    const { run } = match;
    if (this.#ledger.has(query, run))
      return item.ok ? given(query, run, { kind: 'known', trace: item.trace }) : undefined;
    if (item.ok) return given(query, run, { kind: 'judge', trace: item.trace });
    this.#broken.add(query);
    const message = problemText(item.problem);
    return given(query, run, {
      kind: 'failed',
      result: errorResult(query, { kind: 'trace', message }),
    });
  }

  /** Runs without a recording. */
  *#missing(): Generator<SourcedRun> {
    for (const query of this.#queries) {
      if (query.skip !== undefined) continue;
      const runs = this.#ledger.runsOf(query);
      for (let run = this.#matcher.takenBy(query) + 1; run <= runs; run++) {
        if (this.#ledger.has(query, run)) continue;
        const result = missing(query, run, runs, this.#matcher);
        yield given(query, run, { kind: 'failed', result });
      }
    }
  }
}

const given = (query: Query, run: number, outcome: SourcedOutcome): SourcedRun => ({
  query,
  run,
  outcome: async () => outcome,
});

function tooMany(places: readonly string[], runs: number): NonNullable<QueryResult['error']> {
  const named = places.slice(0, MAX_NAMED).join(', ');
  return {
    kind: 'trace',
    message: `${runs + places.length} recordings match this query but runs is ${runs}; too many: ${named}`,
  };
}

async function* batches(
  source: NonNullable<RunOptions['traces']>,
  options: RunOptions,
  onSkipped: (path: string) => void,
): AsyncGenerator<AdapterItem[]> {
  if (typeof source === 'string' || source instanceof Uint8Array) {
    yield* readTraceBatches(source, {
      onSkipped,
      format: options.format,
      signal: options.signal,
    });
    return;
  }
  for await (const trace of source) yield [{ ok: true, trace }];
}

function recordingOfProblem({ id, query, file, line }: TraceProblem) {
  return {
    ids: id === undefined ? [] : [id],
    text: query,
    place: [file, line].filter((part) => part !== undefined).join(':'),
  };
}

function missing(query: Query, run: number, runs: number, matcher: TraceMatcher): QueryResult {
  const nearest = matcher.nearest(query);
  const ofCell = query.cell === undefined ? '' : ` and the cell ${cellText(query.cell)}`;
  const what =
    runs > 1
      ? `no recording for run ${run} of ${runs}${ofCell}`
      : `no recording has the id "${query.id}" or this exact query text${ofCell}`;
  if (query.cell !== undefined && matcher.cellless.length > 0)
    return errorResult(query, withoutCell(what, matcher));
  return errorResult(query, {
    kind: 'trace',
    message: nearest ? `${what}; the nearest unused one is the ${nearest}` : what,
  });
}

/** Recordings without a cell belong to the only selected one, if the user selected cells. */
function onlyCell(queries: readonly Query[], { cells }: RunOptions): Cell | undefined {
  if (cells === undefined || Object.keys(cells).length === 0) return undefined;
  const [first] = queries;
  return queries.every(({ cell }) => sameCell(cell, first?.cell)) ? first?.cell : undefined;
}

function withoutCell(what: string, { cellless }: TraceMatcher): NonNullable<QueryResult['error']> {
  const count = cellless.length === 1 ? '1 recording says' : `${cellless.length} recordings say`;
  return {
    kind: 'trace',
    message: `${what}; ${count} no cell (${cellless[0]}): a recording names it as metadata.cell, or --cell selects the one they are of`,
  };
}

export function skippedNotice(skipped: readonly string[]): string[] {
  if (skipped.length === 0) return [];
  const named = skipped.slice(0, MAX_NAMED).join(', ');
  const more = skipped.length > MAX_NAMED ? ` and ${skipped.length - MAX_NAMED} more` : '';
  return [`skipped, not recordings: ${named}${more}`];
}

function unusedNotice(matcher: TraceMatcher): string[] {
  if (matcher.unusedCount === 0) return [];
  const places = matcher.unusedPlaces(MAX_NAMED).filter(Boolean);
  const more = matcher.unusedCount - places.length;
  const what =
    matcher.unusedCount === 1
      ? '1 recording matches no query'
      : `${matcher.unusedCount} recordings match no query`;
  return [`${what}: ${places.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}
