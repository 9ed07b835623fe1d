import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeTemporaryFolder, removeTemporaryFolder } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import type { Io } from '../cli/io.ts';
import { QUERIES_WITH_RUNS, type RunsToAsk, sqlText, writeTables } from './sql-tables.ts';
import { type Converter, withNumbers } from './sql-values.ts';

/** The subset of `@duckdb/node-api` used here. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: Record<string, string>): Promise<Instance>;
  };
  /** Names by number. */
  readonly StatementType: Readonly<Record<number, string>>;
  readonly JsonDuckDBValueConverter: Converter;
}

interface Instance {
  connect(): Promise<Connection>;
  closeSync?(): void;
}

interface Connection {
  run(sql: string): Promise<unknown>;
  extractStatements(
    sql: string,
  ): Promise<{ readonly count: number; prepare(index: number): Promise<Statement> }>;
  closeSync?(): void;
}

interface Statement {
  readonly statementType: number;
  runAndReadAll(): Promise<{
    deduplicatedColumnNames(): string[];
    convertRowObjects(converter: Converter): Record<string, unknown>[];
  }>;
}

interface Open {
  readonly duckdb: DuckDb;
  readonly connection: Connection;
}

export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly Record<string, unknown>[];
  /** Runs whose queries are damaged or no longer kept. */
  readonly unread: readonly string[];
}

/** Read-only statements. */
const ANSWERING: ReadonlySet<string | undefined> = new Set(['SELECT', 'EXPLAIN']);

/**
 * Runs SQL on the tables `runs` and `queries`. The statement cannot write or read anything else.
 */
export async function queryHistory(asked: RunsToAsk, sql: string, io: Io): Promise<SqlAnswer> {
  return withTables(asked, io, async ({ duckdb, connection }, unread) => {
    try {
      // From here on, statements see the two tables but neither files nor the network.
      await connection.run('SET enable_external_access = false; SET lock_configuration = true;');
      const statements = await connection.extractStatements(sql);
      if (statements.count !== 1)
        throw new Error(`one statement at a time: there are ${statements.count}`);
      const statement = await statements.prepare(0);
      const kind = duckdb.StatementType[statement.statementType];
      if (!ANSWERING.has(kind))
        throw new Error(
          `history sql answers queries, such as SELECT, and runs no ${kind?.replaceAll('_', ' ')} statement: nothing was changed`,
        );
      const result = await statement.runAndReadAll();
      return {
        columns: result.deduplicatedColumnNames(),
        rows: result.convertRowObjects(withNumbers(duckdb.JsonDuckDBValueConverter)),
        unread,
      };
    } catch (error) {
      throw new UserError(
        'HISTORY_SQL',
        (error as Error).message.split('\n').slice(0, 4).join(' '),
        {
          hint: 'Tables: runs (one row per run) and queries (one row per query of a run, with run). DESCRIBE runs lists the columns.',
        },
      );
    }
  });
}

/**
 * Writes one row per query of every run as Parquet. Returns the runs whose queries are damaged or
 * no longer kept.
 */
export async function exportParquet(
  asked: RunsToAsk,
  file: string,
  io: Io,
): Promise<readonly string[]> {
  return withTables(asked, io, async ({ connection }, unread) => {
    try {
      await connection.run(`COPY (${QUERIES_WITH_RUNS}) TO ${sqlText(file)} (FORMAT parquet)`);
      return unread;
    } catch (error) {
      throw new UserError('HISTORY_SQL', (error as Error).message.split('\n')[0]!);
    }
  });
}

/** Memory limit. DuckDB spills the rest to the temporary folder. */
const MEMORY = '1GB';

async function withTables<T>(
  asked: RunsToAsk,
  io: Io,
  use: (open: Open, unread: readonly string[]) => Promise<T>,
): Promise<T> {
  const duckdb = await load(io.cwd);
  const dir = makeTemporaryFolder('agentci-sql-');
  let instance: Instance | undefined;
  let connection: Connection | undefined;
  try {
    const { tables, unread } = writeTables(asked, dir, io);
    instance = await duckdb.DuckDBInstance.create(':memory:', {
      // A single thread keeps the row order, oldest run first.
      threads: '1',
      memory_limit: MEMORY,
      temp_directory: join(dir, 'more'),
    });
    connection = await instance.connect();
    for (const { name, select } of tables)
      await connection.run(`CREATE TABLE ${name} AS ${select}`);
    return await use({ duckdb, connection }, unread);
  } finally {
    connection?.closeSync?.();
    instance?.closeSync?.();
    removeTemporaryFolder(dir);
  }
}

/** Loads from the user's project first, because the package is an optional peer. */
async function load(cwd: string): Promise<DuckDb> {
  for (const from of [join(cwd, 'package.json'), import.meta.url]) {
    try {
      return (await import(
        pathToFileURL(createRequire(from).resolve('@duckdb/node-api')).href
      )) as DuckDb;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!/MODULE_NOT_FOUND$/.test(code ?? '')) throw error;
    }
  }
  throw new UserError('PACKAGE_MISSING', 'this needs DuckDB, which is not installed', {
    hint: 'npm install --save-dev @duckdb/node-api',
  });
}
