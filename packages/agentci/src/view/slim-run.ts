import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLines } from '@agentci/lib/files';
import type { LayerResult, QueryResult, RunResult } from '@agentci/results';
import { caseKey, caseText } from '@agentci/results';
import { type JournalEntry, journalPath } from '@agentci/run';

/** With at least this many queries, a page gets summaries and loads a query when it is opened. */
export const LARGE = 2000;

/** The header of a finished run, without its results. */
export function readHead(root: string, id: string): RunResult {
  return JSON.parse(readFileSync(join(root, id, 'run.json'), 'utf8')) as RunResult;
}

/**
 * A finished run with the summary of each query. Reads the journal line by line, so a large run is
 * never in memory whole.
 */
export function slimRun(root: string, id: string, head: RunResult): RunResult {
  const slim = new Map<string, QueryResult>();
  for (const entry of entriesOf(root, id))
    slim.set(caseKey(entry.result), slimResult(entry.result));
  return {
    ...head,
    results: head.results.flatMap((result) =>
      result.status === undefined ? (slim.get(caseKey(result)) ?? []) : slimResult(result),
    ),
  };
}

/** A complete query result by its page name. */
export function wholeResultOf(root: string, id: string, name: string): QueryResult | undefined {
  const own = readHead(root, id).results.find((result) => caseText(result) === name);
  if (own === undefined || own.status !== undefined) return own;
  let found: QueryResult | undefined;
  for (const { result } of entriesOf(root, id, `{"id":${JSON.stringify(own.id)},`))
    if (caseText(result) === name) found = result;
  return found;
}

/** First repeats of queries. With `start`, only lines with that prefix are parsed. */
function* entriesOf(root: string, id: string, start = '{"id":'): Generator<JournalEntry> {
  for (const { text, isWhole } of readLines(journalPath(join(root, id)))) {
    if (!isWhole || !text.startsWith(start)) continue;
    const entry = JSON.parse(text) as JournalEntry;
    if (entry.run === 1) yield entry;
  }
}

function slimResult({ correctness, path, cost, ...result }: QueryResult): QueryResult {
  const { actual } = cost.details;
  return {
    ...result,
    answer: null,
    metrics: {},
    correctness: slimLayer(correctness),
    path: slimLayer(path),
    cost: { ...slimLayer(cost), details: actual === undefined ? {} : { actual } },
    slim: true,
  } as QueryResult;
}

/** Lists name failed checks. Their evidence is only on the page of the query. */
const slimLayer = ({ status, checks }: LayerResult): LayerResult => ({
  status,
  messages: [],
  details: {},
  checks: checks
    .filter((check) => check.status !== 'pass' && check.status !== 'skip')
    .map(({ parts: _, ...check }) => ({ ...check, evidence: [] })),
});
