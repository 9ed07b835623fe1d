import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openFile } from '@agentci/lib/files';
import type { HistoryQuery, HistoryRun } from '@agentci/run';
import { isCut, readQueries } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { readableLines } from './place.ts';

/** The runs to query with SQL. */
export interface RunsToAsk {
  readonly root: string;
  readonly runs: readonly HistoryRun[];
}

/** A table of the history. DuckDB reads the rows from a file with `select`. */
interface SqlTable {
  readonly name: string;
  readonly select: string;
}

/** The table files, and the runs whose queries are damaged or no longer kept. */
export interface WrittenTables {
  readonly tables: readonly SqlTable[];
  readonly unread: readonly string[];
}

/**
 * Every column always exists with one type, so a statement that works on one history works on all.
 * Times are stored as numbers, to keep every possible date readable.
 */
const RUN_COLUMNS: Readonly<Record<Exclude<keyof HistoryRun, 'ahead'>, string>> = {
  id: 'VARCHAR',
  at: 'BIGINT',
  order: 'VARCHAR',
  agent: 'VARCHAR',
  spec: 'VARCHAR',
  hash: 'VARCHAR',
  commit: 'VARCHAR',
  branch: 'VARCHAR',
  models: 'VARCHAR[]',
  part: 'BOOLEAN',
  recorded: 'BOOLEAN',
  judges: 'STRUCT("run" VARCHAR, "at" BIGINT, "order" VARCHAR, "commit" VARCHAR)',
  shard_runs: 'VARCHAR[]',
  total: 'BIGINT',
  passed: 'BIGINT',
  failed: 'BIGINT',
  warnings: 'BIGINT',
  errors: 'BIGINT',
  skipped: 'BIGINT',
  usd: 'DOUBLE',
  unpriced: 'BIGINT',
  unused_usd: 'DOUBLE',
  tokens: 'DOUBLE',
  uncounted: 'BIGINT',
  p50_ms: 'DOUBLE',
  p95_ms: 'DOUBLE',
  exit: 'BIGINT',
};

const QUERY_COLUMNS: Readonly<Record<'run' | keyof HistoryQuery, string>> = {
  run: 'VARCHAR',
  id: 'VARCHAR',
  cell: 'JSON',
  status: 'VARCHAR',
  decided: 'BIGINT',
  passed: 'BIGINT',
  usd: 'DOUBLE',
  ms: 'DOUBLE',
  tokens: 'DOUBLE',
};

const RUN_VALUES = `* REPLACE (
  epoch_ms("at") AS "at",
  CASE WHEN judges IS NOT NULL THEN struct_pack("run" := judges."run", "at" := epoch_ms(judges."at"), "order" := judges."order", "commit" := judges."commit") END AS judges
)`;

/**
 * One row per query, joined with its run. Both have costs and counts, so the run's columns get a
 * prefix.
 */
export const QUERIES_WITH_RUNS = `SELECT q.*, ${Object.keys(RUN_COLUMNS)
  .filter((name) => name !== 'id')
  .map((name) => `r."${name}" AS "run_${name}"`)
  .join(', ')} FROM queries q JOIN runs r ON r.id = q.run`;

/**
 * Writes the runs that the other actions of `history` use, one at a time: no replaced merge, no
 * unreadable line, and each run once.
 */
export function writeTables({ root, runs }: RunsToAsk, dir: string, io: Io): WrittenTables {
  const unread: string[] = [];
  function* queryRows(): Generator<object> {
    for (const run of runs) {
      const read = readQueries(root, run.id);
      if (isCut(run, read)) unread.push(run.id);
      if (read === undefined) continue;
      for (const query of readableLines(read, `${run.id}.jsonl`, io))
        yield { ...query, run: run.id };
    }
  }
  const tables = [
    writeTable('runs', join(dir, 'runs.jsonl'), runs.map(runRow), {
      columns: RUN_COLUMNS,
      values: RUN_VALUES,
    }),
    writeTable('queries', join(dir, 'queries.jsonl'), queryRows(), {
      columns: QUERY_COLUMNS,
      values: '*',
    }),
  ];
  return { tables, unread };
}

const runRow = ({ judges, ...run }: HistoryRun): object => ({
  ...run,
  at: Date.parse(run.at),
  part: run.part === true,
  recorded: run.recorded === true,
  judges: judges === undefined ? undefined : { ...judges, at: Date.parse(judges.at) },
});

const PIECE = 64 * 1024;
/** DuckDB's minimum for a line. */
const LINE_BYTES = 1024 * 1024;

function writeTable(
  name: string,
  path: string,
  rows: Iterable<object>,
  {
    columns,
    values,
  }: { readonly columns: Readonly<Record<string, string>>; readonly values: string },
): SqlTable {
  let longest = LINE_BYTES;
  let piece = '';
  const fd = openFile(path, 'w');
  const flush = (): void => {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    piece = '';
  };
  try {
    for (const row of rows) {
      const line = `${wellFormed(JSON.stringify(row))}\n`;
      // A UTF-16 unit takes at most three bytes.
      if (line.length * 3 > longest) longest = line.length * 3;
      piece += line;
      if (piece.length > PIECE) flush();
    }
    flush();
  } finally {
    closeSync(fd);
  }
  const types = Object.entries(columns).map(([column, type]) => `"${column}": ${sqlText(type)}`);
  return {
    name,
    select: `SELECT ${values} FROM read_json(${sqlText(path)}, format = 'newline_delimited', maximum_object_size = ${longest}, columns = {${types.join(', ')}})`,
  };
}

/** JSON allows lone surrogates, but DuckDB cannot read them. */
const wellFormed = (json: string): string =>
  json.includes('\\ud')
    ? json.replace(
        /(\\\\)|\\ud[89a-f][0-9a-f]{2}/g,
        (_, backslash: string | undefined) => backslash ?? '\ufffd',
      )
    : json;

/** Quotes an SQL string. */
export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`;
