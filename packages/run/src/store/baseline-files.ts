import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readTraces } from '@agentci/formats';
import { isObject, sha256Hex } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { type Cell, cellKey } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import { maskTrace } from '@agentci/trace';
import { baselineText } from './baseline-text.ts';

export const BASELINE_SCHEMA = 'agentci.baseline/1';

/** The fields of a baseline file, besides the trace. */
export interface BaselineInfo {
  readonly version: string;
  readonly agent: string;
  /** Empty if neither the file nor its trace has it. */
  readonly query: string;
  readonly query_id?: string;
  /** The combination of the matrix. */
  readonly cell?: Cell;
  readonly captured_at?: string;
  readonly metadata: {
    readonly model?: string | null;
    readonly spec_hash?: string;
    readonly judge_rubric_ids?: readonly string[];
    /** `null`: the query had no checks, so nothing was proved. */
    readonly precheck_passed?: boolean | null;
    readonly forced?: boolean;
  };
}

export interface BaselineFile extends BaselineInfo {
  readonly file: string;
}

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

const safeName = (what: string, name: string): string => {
  if (SAFE_NAME.test(name)) return name;
  throw new UserError('OPTION_INVALID', `"${name}" cannot be used as a baseline ${what}`, {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  });
};

/**
 * An agent's name is arbitrary, a folder's is not. Other names become a slug with a short hash, so
 * that no two agents share a folder.
 */
function agentFolder(agent: string): string {
  if (SAFE_NAME.test(agent)) return agent;
  const slug = agent
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return `${slug || 'agent'}-${sha256Hex(agent).slice(0, 6)}`;
}

/** The path of a query's baseline. Refuses names that would leave the folder. */
export const baselinePath = (place: {
  dir: string;
  agent: string;
  version: string;
  queryId: string;
  cell?: Cell | undefined;
}): string =>
  join(
    place.dir,
    agentFolder(place.agent),
    safeName('version', place.version),
    `${fileName(safeName('query id', place.queryId), place.cell)}.json`,
  );

/** `refund`, or `refund@gpt-4o-1a2b3c` for one cell: readable values, and a hash for uniqueness. */
function fileName(queryId: string, cell: Cell | undefined): string {
  if (cell === undefined) return queryId;
  const words = Object.values(cell)
    .join('-')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 60);
  return `${queryId}@${words}-${sha256Hex(cellKey(cell)).slice(0, 6)}`;
}

/** An invalid baseline file, with the version from its path. */
export interface BrokenBaseline {
  readonly file: string;
  readonly version: string;
  readonly error: UserError;
}

/** The content of a baseline folder. */
export interface BaselineList {
  readonly files: readonly BaselineFile[];
  readonly broken: readonly BrokenBaseline[];
}

/**
 * Every baseline of an agent: `<agent>/<version>/<query-id>.json`, and the older single file
 * `<agent>/<version>.json`.
 */
export function listBaselineFiles(dir: string, agent: string): BaselineList {
  return filesIn(join(dir, agentFolder(agent)));
}

/** Every baseline of every agent under a folder. */
export function listAllBaselineFiles(dir: string): BaselineList {
  if (!existsSync(dir)) return { files: [], broken: [] };
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const lists = folders
    .map((entry) => entry.name)
    .sort()
    .map((name) => filesIn(join(dir, name)));
  return {
    files: lists.flatMap(({ files }) => files),
    broken: lists.flatMap(({ broken }) => broken),
  };
}

/**
 * The baselines of one version, or of all. An invalid file is an error only for its version,
 * because it may be the one to compare with.
 */
export function usableBaselines(
  { files, broken }: BaselineList,
  version: string | undefined,
): readonly BaselineFile[] {
  const inTheWay = broken.find((file) => version === undefined || file.version === version);
  if (inTheWay === undefined) return files;
  const { code, message, hint } = inTheWay.error;
  const others = [...new Set(files.map((file) => file.version))].filter(
    (name) => name !== inTheWay.version,
  );
  const way = others.length === 0 ? '' : `, or name another version (${others.join(', ')})`;
  throw new UserError(code, message, {
    hint: `${hint === undefined ? '' : `${hint} `}Repair the file or remove it${way}.`,
  });
}

function filesIn(root: string): BaselineList {
  const files: BaselineFile[] = [];
  const broken: BrokenBaseline[] = [];
  const add = (place: Place): void => {
    try {
      files.push(readInfo(place));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      broken.push({ file: place.file, version: place.version, error });
    }
  };
  if (!existsSync(root)) return { files, broken };
  const folder = basename(root);
  for (const entry of readdirSync(root, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (entry.isDirectory()) {
      for (const name of readdirSync(join(root, entry.name)).sort()) {
        if (!name.endsWith('.json')) continue;
        add({
          file: join(root, entry.name, name),
          folder,
          version: entry.name,
          queryId: name.slice(0, -'.json'.length),
        });
      }
    } else if (entry.name.endsWith('.json')) {
      add({ file: join(root, entry.name), folder, version: entry.name.slice(0, -'.json'.length) });
    }
  }
  return { files, broken };
}

/** The parts of a baseline path. */
interface Place {
  readonly file: string;
  readonly folder: string;
  readonly version: string;
  readonly queryId?: string;
}

/** A larger file is not a baseline that anyone reviews. */
const MAX_BYTES = 256 * 1024 * 1024;

function readInfo(place: Place): BaselineFile {
  const { file } = place;
  let value: unknown;
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES)
      throw new UserError('BASELINE_UNREADABLE', `${file} is larger than ${MAX_BYTES} bytes`);
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof UserError) throw error;
    // A dangling link, a folder called x.json, or an unreadable file.
    if ((error as NodeJS.ErrnoException).code !== undefined)
      throw new UserError(
        'BASELINE_UNREADABLE',
        `${file} cannot be read: ${(error as Error).message}`,
      );
    throw new UserError('BASELINE_UNREADABLE', `${file} is not JSON: ${(error as Error).message}`);
  }
  refuseNewer(file, value);
  const info = value as Partial<BaselineInfo> & { trace?: unknown };
  if (
    typeof info !== 'object' ||
    info === null ||
    typeof info.version !== 'string' ||
    typeof info.agent !== 'string' ||
    !info.trace
  ) {
    throw new UserError(
      'BASELINE_UNREADABLE',
      `${file} is not a baseline: it needs version, agent and trace`,
    );
  }
  const cell = isCell(info.cell) ? info.cell : undefined;
  refuseMisplaced(place, {
    version: info.version,
    agent: info.agent,
    query_id: info.query_id,
    cell,
  });
  return {
    file,
    version: info.version,
    agent: info.agent,
    query: typeof info.query === 'string' ? info.query : queryOfTrace(info.trace),
    query_id: typeof info.query_id === 'string' ? info.query_id : undefined,
    cell,
    captured_at: typeof info.captured_at === 'string' ? info.captured_at : undefined,
    metadata: typeof info.metadata === 'object' && info.metadata !== null ? info.metadata : {},
  };
}

/**
 * A file copied or renamed by hand would be compared with runs of another agent, version or query.
 */
function refuseMisplaced(
  place: Place,
  inner: { version: string; agent: string; query_id?: unknown; cell: Cell | undefined },
): void {
  const says = (what: string, name: string, expected: string): UserError =>
    new UserError(
      'BASELINE_MISPLACED',
      `${place.file} says ${what} "${name}", but its place is that of "${expected}"`,
      {
        hint: 'Baselines are <baseline_dir>/<agent>/<version>/<query-id>.json. Save it again rather than copying files.',
      },
    );
  if (agentFolder(inner.agent) !== place.folder) throw says('agent', inner.agent, place.folder);
  if (inner.version !== place.version) throw says('version', inner.version, place.version);
  if (
    place.queryId !== undefined &&
    typeof inner.query_id === 'string' &&
    fileName(inner.query_id, inner.cell) !== place.queryId
  )
    throw says('query_id', inner.query_id, place.queryId);
}

const isCell = (value: unknown): value is Cell =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string');

/** The one-file form of AgentCI 2.0 has the question only in the trace. */
function queryOfTrace(trace: unknown): string {
  const fields = (value: unknown): Record<string, unknown> =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const { query, input_query, input, metadata, task } = fields(trace);
  const said = [query, input_query, input, fields(metadata).query, inputText(fields(task).input)];
  return said.find((text): text is string => typeof text === 'string' && text !== '') ?? '';
}

/** The first user message in a trace of AgentCI. */
function inputText(messages: unknown): string | undefined {
  if (typeof messages === 'string') return messages;
  if (!Array.isArray(messages)) return undefined;
  for (const message of messages as { role?: unknown; parts?: unknown }[]) {
    if (message?.role !== 'user' || !Array.isArray(message.parts)) continue;
    const texts = (message.parts as { type?: unknown; text?: unknown }[]).filter(
      ({ type }) => type === 'text',
    );
    return texts.map(({ text }) => String(text)).join('');
  }
  return undefined;
}

/** The trace in a baseline file, in its stored format. */
export async function readBaselineTrace(file: string): Promise<Trace> {
  for await (const trace of readTraces(file)) return trace;
  throw new UserError('BASELINE_UNREADABLE', `${file} has no trace`);
}

/** Rejects a file from a newer program instead of guessing. */
function refuseNewer(file: string, value: unknown): void {
  const { schema, schema_version } = (value ?? {}) as {
    schema?: unknown;
    schema_version?: unknown;
  };
  const isOurs = typeof schema === 'string' && schema.startsWith('agentci.baseline/');
  const newer = isOurs && schema !== BASELINE_SCHEMA ? schema : undefined;
  const version =
    typeof schema_version === 'number' && schema_version > 1
      ? `schema version ${schema_version}`
      : undefined;
  const name = newer ?? version;
  if (name === undefined) return;
  throw new UserError(
    'BASELINE_TOO_NEW',
    `${file} is of ${name}, which this program does not know`,
    {
      hint: `It reads ${BASELINE_SCHEMA}; save the baseline again, or use a newer agentci.`,
    },
  );
}

/** Writes a baseline. Replaces an existing file only if `overwrite` is set. */
export function writeBaseline(
  file: string,
  content: BaselineInfo & { readonly trace: Trace },
  options: { readonly overwrite: boolean },
): void {
  if (!options.overwrite && existsSync(file)) {
    throw new UserError('FILE_EXISTS', `${file} exists already`, {
      hint: 'Choose another --version, or replace it with --overwrite.',
    });
  }
  writeFileAtomic(
    file,
    baselineText({
      schema: BASELINE_SCHEMA,
      ...content,
      query: SECRETS.document(content.query),
      trace: maskTrace(content.trace),
    }),
  );
}
