import type { AdapterItem, TraceProblem } from '../adapters/adapter.ts';
import { readTraceBatches } from '../adapters/reader/read-traces.ts';
import { type Cell, caseKey, cellText, sameCell } from '../results/cell.ts';
import type { CheckResult, QueryResult } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import { errorResult } from './combine-runs.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import type { Ledger } from './ledger.ts';
import { type Match, type Recording, recordingOf, TraceMatcher } from './match-traces.ts';
import type { RunOptions } from './run-options.ts';
import type { Recorded } from './run-parts.ts';
import { problemText, unreadable } from './unreadable.ts';

const MAX_NAMED = 5;

/** Evaluates recordings as they stream by; no recording is kept once its verdict is written down. */
export async function collectRecorded(
  options: RunOptions,
  source: NonNullable<RunOptions['traces']>,
  queries: readonly Query[],
  ledger: Ledger,
  evaluate: TraceEvaluator,
): Promise<Recorded> {
  const selected = new Set(queries.map(caseKey));
  const matcher = new TraceMatcher(
    options.suite.queries,
    ledger.runsOf,
    onlyCell(queries, options),
  );
  const surplus = new Map<Query, string[]>();
  const broken = new Set<Query>();
  const skipped: string[] = [];
  const checks: CheckResult[] = [];
  const inFlight = new Set<Promise<void>>();
  const workers = Math.max(1, options.workers ?? 4);

  const take = (item: AdapterItem): Promise<void> | undefined => {
    if (ledger.stopped()) return;
    const recording = item.ok ? recordingOf(item.trace) : recordingOfProblem(item.problem);
    if (options.suite.sharesRecordings !== true)
      return judge(item, recording, matcher.take(recording, item.ok));
    let full: Promise<void> | undefined;
    for (const match of matcher.takeForAll(recording, item.ok))
      full = judge(item, recording, match) ?? full;
    return full;
  };
  const judge = (
    item: AdapterItem,
    recording: Recording,
    match: Match,
  ): Promise<void> | undefined => {
    if (match.kind === 'unused') {
      if (!item.ok) checks.push(unreadable(item.problem));
      return;
    }
    if (!selected.has(caseKey(match.query)) || match.query.skip !== undefined) return;
    if (match.kind === 'surplus') {
      surplus.set(match.query, [...(surplus.get(match.query) ?? []), recording.place]);
      return;
    }
    const { query, run } = match;
    if (ledger.has(query, run)) {
      if (item.ok) ledger.seen(query, run, item.trace);
      return;
    }
    if (!item.ok) {
      broken.add(query);
      ledger.add(
        query,
        run,
        errorResult(query, { kind: 'trace', message: problemText(item.problem) }),
      );
      return;
    }
    const verdict = evaluate(query, item.trace);
    if (!(verdict instanceof Promise)) {
      ledger.add(query, run, verdict, item.trace);
      return;
    }
    const evaluated = verdict.then((result) => {
      ledger.add(query, run, result, item.trace);
      inFlight.delete(evaluated);
    });
    inFlight.add(evaluated);
    return inFlight.size >= workers ? Promise.race(inFlight) : undefined;
  };

  for await (const batch of batches(source, options, (path) => skipped.push(path))) {
    if (ledger.stopped()) break;
    for (const item of batch) {
      const full = take(item);
      // Waiting for nothing would still cost a turn of the event loop for every record.
      if (full !== undefined) await full;
    }
  }
  await Promise.all(inFlight);

  for (const [query, places] of surplus) {
    // The record that could not be read is the reason to give; it may well be why there is one more.
    if (broken.has(query)) continue;
    const runs = ledger.runsOf(query);
    const named = places.slice(0, MAX_NAMED).join(', ');
    ledger.overrule(query, {
      kind: 'trace',
      message: `${runs + places.length} recordings match this query but runs is ${runs}; too many: ${named}`,
    });
  }
  if (!ledger.stopped())
    for (const { query, run } of ledger.pending())
      ledger.add(query, run, missing(query, run, ledger, matcher));
  return {
    checks,
    notices: [...skippedNotice(skipped), ...unusedNotice(matcher)],
    unmatched: matcher.unusedCount,
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

function missing(query: Query, run: number, ledger: Ledger, matcher: TraceMatcher): QueryResult {
  const runs = ledger.runsOf(query);
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

/** Recordings that say no cell are of the only one that was selected, if the user selected. */
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
