import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { readLines } from '@agentci/lib/files';
import type { QueryResult, RunResult } from '@agentci/results';
import { type CaseName, caseKey } from '@agentci/results';
import type { RunParts } from '@agentci/run';
import { gatesPath, JOURNAL_SCHEMA, type JournalEntry, journalPath } from '@agentci/run';

/** The end of a shard from `run.json` and `gates.json`. */
export interface ShardEnd {
  /** By `caseKey`: results only found in `run.json`, such as those over several repeats. */
  readonly whole: ReadonlyMap<string, QueryResult>;
  /** By `caseKey`: results found in the journal. */
  readonly named: ReadonlySet<string>;
  readonly summary: RunResult['summary'];
  readonly startedAt: number | undefined;
  readonly durationMs: number;
  readonly parts: RunParts;
}

/**
 * Reads the end of a shard. Undefined if the shard was killed or interrupted. A text describes
 * damage.
 */
export function readShardEnd(dir: string): ShardEnd | undefined | string {
  const path = join(dir, 'run.json');
  if (!existsSync(path)) return undefined;
  try {
    const run = JSON.parse(readFileSync(path, 'utf8')) as RunResult;
    if (!isObject(run) || !Array.isArray(run.results) || !isObject(run.summary))
      return `${path} is not a run`;
    const whole = new Map<string, QueryResult>();
    const named = new Set<string>();
    for (const result of run.results) {
      if (!isObject(result) || typeof result.id !== 'string')
        return `${path} has a result without an id`;
      const key = caseKey(result as unknown as CaseName);
      if (result.status === undefined) named.add(key);
      else if (isResult(result)) whole.set(key, result as unknown as QueryResult);
      else return `${path} has a result that is not one`;
    }
    const parts = JSON.parse(readFileSync(gatesPath(dir), 'utf8')) as RunParts;
    if (!isParts(parts)) return `${gatesPath(dir)} is not what a shard leaves`;
    const startedAt = Date.parse(run.started_at ?? '');
    return {
      whole,
      named,
      summary: run.summary,
      startedAt: Number.isFinite(startedAt) ? startedAt : undefined,
      durationMs: typeof run.duration_ms === 'number' ? run.duration_ms : 0,
      parts,
    };
  } catch (error) {
    return `${path}: ${(error as Error).message}`;
  }
}

/** A line of a shard's journal with its result as JSON text, or a description of the damage. */
export type ShardLine = (JournalEntry & { readonly json: string }) | { readonly damage: string };

/**
 * Yields the finished repeats of a shard. Skips a line truncated by a kill, because its repeat did
 * not finish.
 */
export function* readShardLines(dir: string): Generator<ShardLine> {
  const path = journalPath(dir);
  let hasHeader = false;
  for (const { text, number, isWhole } of readLines(path)) {
    if (!isWhole) return;
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      yield { damage: `${path}:${number} is not JSON` };
      continue;
    }
    if (!hasHeader) {
      hasHeader = true;
      if (!isObject(line) || line.schema !== JOURNAL_SCHEMA) {
        yield { damage: `${path} does not start with an ${JOURNAL_SCHEMA} header` };
        return;
      }
      continue;
    }
    if (!isEntry(line)) {
      yield { damage: `${path}:${number} is not a result` };
      continue;
    }
    yield { ...line, json: jsonIn(text, line) };
  }
}

/**
 * The journal writes the result as the last key of an entry. For a different order, the JSON is
 * written again.
 */
function jsonIn(text: string, { id, run, revokes = false, result }: JournalEntry): string {
  const head = `{"id":${JSON.stringify(id)},"run":${run},${revokes ? '"revokes":true,' : ''}"result":`;
  return text.startsWith(head) ? text.slice(head.length, -1) : JSON.stringify(result);
}

function isEntry(line: unknown): line is JournalEntry {
  return (
    isObject(line) &&
    typeof line.id === 'string' &&
    Number.isInteger(line.run) &&
    isResult(line.result)
  );
}

const STATUSES: ReadonlySet<unknown> = new Set(['pass', 'warn', 'fail', 'skip', 'error']);

/** The fields that every report reads. */
function isResult(result: unknown): boolean {
  return (
    isObject(result) &&
    typeof result.id === 'string' &&
    typeof result.query === 'string' &&
    STATUSES.has(result.status) &&
    Array.isArray(result.tags) &&
    isObject(result.metrics) &&
    [result.correctness, result.path, result.cost].every(
      (layer) => isObject(layer) && Array.isArray(layer.checks) && isObject(layer.details),
    )
  );
}

/** Whether all parts needed for the verdict exist. */
function isParts(parts: unknown): boolean {
  if (!isObject(parts)) return false;
  const { recorded, late, outside, tools, judge, baselines, metrics } = parts;
  return (
    [recorded, late, tools, judge].every(isObject) &&
    [outside, baselines, metrics].every(Array.isArray) &&
    Array.isArray((recorded as Record<string, unknown>).checks) &&
    Array.isArray((recorded as Record<string, unknown>).notices) &&
    Array.isArray((late as Record<string, unknown>).checks) &&
    ['known', 'ruled', 'constrained', 'forbidden'].every((key) =>
      Array.isArray((tools as Record<string, unknown>)[key]),
    ) &&
    isObject((judge as Record<string, unknown>).usage) &&
    Array.isArray((judge as Record<string, unknown>).failures) &&
    Array.isArray((judge as Record<string, unknown>).unpriced)
  );
}
