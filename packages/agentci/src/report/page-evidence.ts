import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readTraces } from '@agentci/formats';
import { loadPrices } from '@agentci/lib/prices';
import { pageTrace } from '@agentci/reporters';
import type { PageEvidence, PageTrace, QueryResult, RunResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import { readBaselineTrace, recordingOf, TraceMatcher } from '@agentci/run';
import type { Trace } from '@agentci/trace';
import { finalText, toolNames } from '@agentci/trace';

/** Maximum total size of the traces on a page. Traces of passed queries are dropped first. */
const MAX_CHARACTERS = 24_000_000;
const PASSING_SHARE = 0.6;

interface EvidenceOptions {
  readonly traces: string | undefined;
  readonly cwd: string;
  /** Only the query with this name (`caseText`), without a limit. */
  readonly only?: string;
  readonly maxCharacters?: number;
}

/** Reads the traces of a run and its baselines in the format of the page. */
export async function pageEvidence(
  run: RunResult,
  {
    traces,
    cwd,
    only,
    maxCharacters = only === undefined ? MAX_CHARACTERS : Number.POSITIVE_INFINITY,
  }: EvidenceOptions,
): Promise<{ byQuery: Map<string, PageEvidence>; notes: string[] }> {
  const byQuery = new Map<string, PageEvidence>();
  const notes: string[] = [];
  const leftOut = new Set<string>();
  let used = 0;
  const fits = (result: QueryResult, characters: number): boolean => {
    const isFine = result.status === 'pass' || result.status === 'skip';
    if (used + characters > maxCharacters * (isFine ? PASSING_SHARE : 1)) return false;
    used += characters;
    return true;
  };

  if (traces !== undefined) {
    const { lookup } = await loadPrices();
    const matcher = new TraceMatcher(run.results, (result) => result.runs?.length ?? 1);
    let unreadable = 0;
    try {
      for await (const trace of readTraces(traces, { onProblem: () => unreadable++ })) {
        const match = matcher.take(recordingOf(trace));
        if (match.kind !== 'run' || (only !== undefined && caseText(match.query) !== only))
          continue;
        if (leftOut.has(caseText(match.query))) continue;
        const page = pageTrace(trace, lookup);
        if (!fits(match.query, JSON.stringify(page).length)) leftOut.add(caseText(match.query));
        else add(byQuery, match.query, page, trace);
        if (only !== undefined && match.run === (match.query.runs?.length ?? 1)) break;
      }
    } catch (error) {
      notes.push(`the recordings could not be read to the end: ${(error as Error).message}`);
    }
    if (unreadable > 0) notes.push(`${unreadable} recordings could not be read`);
  } else if (run.results.length > 0) {
    notes.push('the recordings of this run are unavailable, and the page has no timelines');
  }
  if (leftOut.size > 0)
    notes.push(
      `the traces of ${leftOut.size} of ${run.results.length} queries are left out to keep the page small; agentci view shows them all`,
    );
  await addBaselines(run, byQuery, { cwd, only });
  return { byQuery, notes };
}

function add(
  byQuery: Map<string, PageEvidence>,
  result: QueryResult,
  page: PageTrace,
  trace: Trace,
): void {
  const evidence = byQuery.get(caseText(result)) ?? { traces: [], shown: 0 };
  // The shown answer and checks come from the first worst repeat. Its number identifies the trace.
  const first =
    result.runs?.findIndex(
      ({ status, answer }) => status === result.status && answer === result.answer,
    ) ?? 0;
  if (first === evidence.traces.length && finalText(trace) === result.answer)
    evidence.shown = first;
  evidence.traces.push(page);
  byQuery.set(caseText(result), evidence);
}

async function addBaselines(
  run: RunResult,
  byQuery: Map<string, PageEvidence>,
  { cwd, only }: { cwd: string; only: string | undefined },
): Promise<void> {
  for (const result of run.results) {
    const { baseline } = result;
    const id = caseText(result);
    if (baseline?.file === undefined || (only !== undefined && id !== only)) continue;
    const file = resolve(cwd, baseline.file);
    if (!existsSync(file)) continue;
    try {
      const trace = await readBaselineTrace(file);
      const evidence = byQuery.get(id) ?? { traces: [], shown: 0 };
      evidence.baseline = {
        version: baseline.version,
        tools: trace.captured.toolCalls === 'none' ? null : toolNames(trace),
        answer: finalText(trace) ?? null,
      };
      byQuery.set(id, evidence);
    } catch {
      // An unreadable baseline only removes the comparison, not the page.
    }
  }
}
