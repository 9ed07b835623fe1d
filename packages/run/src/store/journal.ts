import { closeSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { openFile } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import type { QueryResult } from '@agentci/results';
import { caseKey } from '@agentci/results';

export const JOURNAL_SCHEMA = 'agentci.journal/1';
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * The first line of a journal. It identifies the spec, because only the same spec can resume the
 * run.
 */
export interface JournalHeader {
  readonly schema: typeof JOURNAL_SCHEMA;
  readonly run_id: string;
  readonly agent: string;
  readonly spec: { readonly file: string; readonly hash: string };
  readonly started_at: string;
  /** The checked-out commit. */
  readonly commit?: string;
  readonly branch?: string;
  /** The agent's run whose recordings are judged. */
  readonly judges?: JudgedRun;
  /** The shards of a merged run. */
  readonly shard_runs?: readonly string[];
  /** Position among the runs, if it differs from the time: see `results/run-order.ts`. */
  readonly order?: string;
  /** Written by older versions instead of `order`: ids of earlier runs with later dates. */
  readonly ahead?: readonly string[];
  /** The options of the original start. A resumed run uses the same. */
  readonly started_with?: Readonly<Record<string, unknown>>;
}

/** The agent's run that a later run judges again, with its time and commit. */
export interface JudgedRun {
  readonly run: string;
  readonly at: string;
  readonly order?: string;
  readonly commit?: string;
}

/** A finished run of a query in the journal. */
export interface JournalEntry {
  readonly id: string;
  readonly run: number;
  readonly result: QueryResult;
  /** The result as JSON, if it was serialized already. */
  readonly json?: string;
  /** The run was in the journal with a verdict that turned out to be invalid. */
  readonly revokes?: boolean;
}

/** Where the journal of a run is. */
export const journalPath = (dir: string): string => join(dir, 'results.jsonl');

/** Reads the finished runs. If a verdict was revoked, only the later line counts. */
export function readJournal(path: string): { header: JournalHeader; entries: JournalEntry[] } {
  const text = readFileSync(path, 'utf8');
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
  const [header, ...entries] = lines.map((line, index) => {
    const entry = parsed(line);
    if (entry === undefined)
      throw new UserError(
        'RUN_DAMAGED',
        `${path}:${index + 1} is not JSON: the stored run is damaged`,
      );
    if (index > 0 && !isEntry(entry))
      throw new UserError(
        'RUN_DAMAGED',
        `${path}:${index + 1} is not the result of a query: the stored run is damaged`,
      );
    return entry;
  });
  if ((header as JournalHeader | undefined)?.schema !== JOURNAL_SCHEMA)
    throw new UserError('RUN_DAMAGED', `${path} does not start with an ${JOURNAL_SCHEMA} header`);
  return { header: header as JournalHeader, entries: withoutRevoked(entries as JournalEntry[]) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isEntry = (entry: unknown): boolean =>
  isObject(entry) &&
  typeof entry.id === 'string' &&
  isObject(entry.result) &&
  typeof entry.result.status === 'string';

function withoutRevoked(entries: JournalEntry[]): JournalEntry[] {
  const revoked = new Set(entries.filter(({ revokes }) => revokes === true).map(runKey));
  return revoked.size === 0
    ? entries
    : entries.filter((entry) => entry.revokes === true || !revoked.has(runKey(entry)));
}

const runKey = ({ id, run, result }: JournalEntry): string =>
  `${run} ${caseKey({ id, cell: result.cell })}`;

/** The first line of a journal. Undefined if the file is not one. */
export function readHeader(journal: string): JournalHeader | undefined {
  try {
    const fd = openFile(journal, 'r');
    const head = Buffer.alloc(MAX_HEADER_BYTES);
    const bytes = readSync(fd, head);
    closeSync(fd);
    const text = head.toString('utf8', 0, bytes);
    const header = JSON.parse(text.slice(0, text.indexOf('\n'))) as JournalHeader;
    return header.schema === JOURNAL_SCHEMA ? header : undefined;
  } catch {
    return undefined;
  }
}
