import { escapeTerminalLine, plural } from '@agentci/lib/text';
import type { QueryResult } from '@agentci/results';
import { runSuite } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { startProgress } from '../cli/progress.ts';
import { askLive } from './ask-live.ts';
import { type CassettePlace, type FoundCassette, findCassettes } from './place.ts';
import { replayOptions } from './replay-options.ts';

const DAY_MS = 86_400_000;

export const ageDays = (recordedAt: string, now: number): number =>
  Math.max(0, Math.round(((now - Date.parse(recordedAt)) / DAY_MS) * 10) / 10);

type Fit = 'fits' | 'drifted' | 'unused calls' | 'not recorded' | 'could not tell';

interface Checked {
  readonly query: string;
  readonly fit: Fit;
  readonly causes: readonly string[];
  readonly message?: string;
  readonly age_days: number | null;
  readonly bytes: number;
}

interface CheckOptions {
  /** Checks only this query. */
  readonly id?: string;
  readonly live?: number;
  readonly workers?: number;
  readonly json?: boolean;
}

/**
 * Runs the agent offline and reports per query whether its recording is current. With `live`, also
 * asks the providers.
 */
export async function checkCassettes(
  place: CassettePlace,
  options: CheckOptions,
  io: Io,
): Promise<number> {
  const found = findCassettes(place, options.id);
  const checked = await replayAll(place, found, options, io);
  const live = options.live === undefined ? [] : await askSome(found, options.live, io);
  const broken = found.filter(({ error }) => error !== undefined);
  if (options.json === true)
    io.stdout.write(
      `${JSON.stringify({ schema: 'agentci.cassette-check/1', queries: checked, live }, null, 2)}\n`,
    );
  else {
    const say = (line: string): void => void io.stdout.write(`${escapeTerminalLine(line)}\n`);
    for (const { query, fit, causes, message, age_days, bytes } of checked) {
      const age =
        age_days === null
          ? ''
          : ` · ${age_days < 1 ? 'recorded today' : `${plural(Math.floor(age_days), 'day')} old`} · ${bytes} bytes`;
      say(
        `${fit === 'fits' ? '✓' : '✗'} ${query}  ${fit}${causes.length === 0 ? '' : `: ${causes.join(', ')}`}${age}`,
      );
      if (message !== undefined) say(`    ${message}`);
    }
    for (const { query, i, same, differences, skipped } of live) {
      let mark = '?';
      if (same) mark = '✓';
      else if (skipped === undefined) mark = '✗';
      say(
        `${mark} live: ${query} exchange ${i}  ${skipped ?? (same ? 'same shape' : differences.join('; '))}`,
      );
    }
    const counts = new Map<string, number>();
    for (const cause of checked.flatMap(({ causes }) => causes))
      counts.set(cause, (counts.get(cause) ?? 0) + 1);
    if (counts.size > 0)
      say(`drift: ${[...counts].map(([cause, count]) => `${cause} × ${count}`).join(', ')}`);
  }
  for (const { error } of broken)
    io.stderr.write(`agentci: ${escapeTerminalLine(error!.message)} [${error!.code}]\n`);
  const isUnknown = broken.length > 0 || checked.some(({ fit }) => fit === 'could not tell');
  const hasDrift =
    checked.some(({ fit }) => fit !== 'fits' && fit !== 'could not tell') ||
    live.some(({ same, skipped }) => !same && skipped === undefined);
  // Live checks were requested and none was answered. That does not mean "no drift".
  const isUnasked =
    options.live !== undefined && !live.some(({ skipped }) => skipped === undefined);
  if (hasDrift) return 1;
  if (isUnknown || isUnasked) return 2;
  return 0;
}

/** Queries whose recordings are stale, damaged or missing. */
export async function staleIds(
  place: CassettePlace,
  options: CheckOptions,
  io: Io,
): Promise<readonly string[]> {
  const checked = await replayAll(place, findCassettes(place, options.id), options, io);
  return checked.filter(({ fit }) => fit !== 'fits').map(({ query }) => query);
}

async function replayAll(
  place: CassettePlace,
  found: readonly FoundCassette[],
  options: CheckOptions,
  io: Io,
): Promise<readonly Checked[]> {
  const progress = startProgress(io, { quiet: options.json === true });
  try {
    const { results } = await runSuite({
      ...replayOptions(place, options, io),
      sink: progress,
    });
    return results.map((result) => {
      const files = found.filter(({ cassette }) => cassette?.id === result.id);
      const [oldest] = files.map(({ cassette }) => cassette!.recordedAt).sort();
      const message = result.error?.message ?? unusedIn(result);
      return {
        query: result.id,
        fit: fitOf(result, files.length > 0),
        causes: result.cassette?.causes ?? [],
        message,
        age_days: oldest === undefined ? null : ageDays(oldest, io.now()),
        bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    });
  } finally {
    progress.stop();
  }
}

function fitOf(result: QueryResult, isRecorded: boolean): Fit {
  const { error, cassette } = result;
  if (error?.kind === 'cassette_miss') return isRecorded ? 'drifted' : 'not recorded';
  if (error !== undefined || cassette === undefined) return 'could not tell';
  return cassette.unused > 0 || unusedIn(result) !== undefined ? 'unused calls' : 'fits';
}

/**
 * Recorded calls and replies that this run did not use, in words: model calls, calls to MCP
 * servers, replies of the user.
 */
const unusedIn = ({ warnings = [] }: QueryResult): string | undefined =>
  warnings.find(({ code }) => code === 'CASSETTE_UNUSED')?.message;

interface AskedLive {
  readonly query: string;
  readonly i: number;
  readonly same: boolean;
  readonly differences: readonly string[];
  readonly skipped?: string;
}

/** Takes the first exchange of each cassette, then the second, and so on. */
async function askSome(
  found: readonly FoundCassette[],
  count: number,
  io: Io,
): Promise<readonly AskedLive[]> {
  const all = found
    .flatMap(({ cassette }) =>
      (cassette?.entries ?? []).map((entry) => ({ cassette: cassette!, entry })),
    )
    .filter(({ entry }) => entry.route !== 'other')
    .toSorted((a, b) => a.entry.i - b.entry.i);
  const asked: AskedLive[] = [];
  for (const { cassette, entry } of all.slice(0, count)) {
    if (io.signal.aborted) break;
    asked.push({
      query: cassette.id,
      i: entry.i,
      ...(await askLive(entry, cassette.providers, io)),
    });
  }
  return asked;
}
