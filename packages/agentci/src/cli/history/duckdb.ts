import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UserError } from '../../kit/user-error.ts';

/** Of `@duckdb/node-api`, what is used here. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: Record<string, string>): Promise<{ connect(): Promise<Connection> }>;
  };
}

interface Connection {
  run(sql: string): Promise<unknown>;
  extractStatements(sql: string): Promise<{ readonly count: number }>;
  runAndReadAll(sql: string): Promise<{ columnNames(): string[]; getRowObjectsJson(): Record<string, unknown>[] }>;
  closeSync?(): void;
}

/** Asks SQL of the history: the tables are `runs` and `queries`. Nothing is written, and nothing else can be read. */
export async function queryHistory(
  root: string,
  sql: string,
  cwd: string,
): Promise<{ columns: string[]; rows: Record<string, unknown>[] }> {
  const connection = await connect(root, cwd);
  try {
    // From here on a statement sees the two tables and neither files nor the network.
    await connection.run('SET enable_external_access = false; SET lock_configuration = true;');
    const { count } = await connection.extractStatements(sql);
    if (count !== 1) throw new Error(`one statement at a time: there are ${count}`);
    const result = await connection.runAndReadAll(sql);
    return { columns: result.columnNames(), rows: result.getRowObjectsJson() };
  } catch (error) {
    throw new UserError('HISTORY_SQL', (error as Error).message.split('\n').slice(0, 4).join(' '), {
      hint: 'Tables: runs (one row per run) and queries (one row per query of a run, with run).',
    });
  } finally {
    connection.closeSync?.();
  }
}

/** Writes one row per query of every run as Parquet. */
export async function exportParquet(root: string, file: string, cwd: string): Promise<void> {
  const connection = await connect(root, cwd);
  try {
    await connection.run(
      `COPY (SELECT r.*, q.* EXCLUDE (run) FROM queries q JOIN (SELECT id AS run, * EXCLUDE (id) FROM runs) r ON q.run = r.run) TO ${text(file)} (FORMAT parquet)`,
    );
  } catch (error) {
    throw new UserError('HISTORY_SQL', (error as Error).message.split('\n')[0]!);
  } finally {
    connection.closeSync?.();
  }
}

async function connect(root: string, cwd: string): Promise<Connection> {
  const { DuckDBInstance } = await load(cwd);
  // In memory: a database file has one writer, and runs of a history are written by many.
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  const files = text(join(root, '*.jsonl'));
  const options = "format = 'newline_delimited', ignore_errors = true, maximum_object_size = 1048576";
  await connection.run(`CREATE TABLE runs AS SELECT * FROM read_json(${text(join(root, 'runs.jsonl'))}, ${options})`);
  await connection.run(
    `CREATE TABLE queries AS SELECT regexp_extract(filename, '([^/\\\\]+)\\.jsonl$', 1) AS run, * EXCLUDE (filename) FROM read_json(${files}, ${options}, filename = true, columns = {id: 'VARCHAR', cell: 'JSON', status: 'VARCHAR', decided: 'INTEGER', passed: 'INTEGER', usd: 'DOUBLE', ms: 'DOUBLE', tokens: 'DOUBLE'}) WHERE NOT ends_with(filename, 'runs.jsonl')`,
  );
  return connection;
}

/** A text of SQL. */
const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** From the user's project first: the package is an optional peer. */
async function load(cwd: string): Promise<DuckDb> {
  for (const from of [join(cwd, 'package.json'), import.meta.url]) {
    try {
      return (await import(pathToFileURL(createRequire(from).resolve('@duckdb/node-api')).href)) as DuckDb;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!/MODULE_NOT_FOUND$/.test(code ?? '')) throw error;
    }
  }
  throw new UserError('DUCKDB_MISSING', 'this needs DuckDB, which is not installed', {
    hint: 'npm install --save-dev @duckdb/node-api',
  });
}
