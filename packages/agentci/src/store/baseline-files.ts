import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readTraces } from '../adapters/read-traces.ts';
import { sha256Hex } from '../kit/hash.ts';
import { SECRETS } from '../kit/secrets.ts';
import { UserError } from '../kit/user-error.ts';
import type { Trace } from '../trace/model.ts';
import { writeFileAtomic } from './atomic-write.ts';
import { baselineText } from './baseline-text.ts';

export const BASELINE_SCHEMA = 'agentci.baseline/1';

/** What a baseline file says of itself, besides the trace. */
export interface BaselineInfo {
  readonly version: string;
  readonly agent: string;
  readonly query: string;
  readonly query_id?: string;
  readonly captured_at?: string;
  readonly metadata: {
    readonly model?: string | null;
    readonly spec_hash?: string;
    readonly judge_rubric_ids?: readonly string[];
    readonly precheck_passed?: boolean;
    readonly forced?: boolean;
  };
}

export interface BaselineFile extends BaselineInfo {
  readonly file: string;
}

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

const safeName = (what: string, name: string): string => {
  if (SAFE_NAME.test(name)) return name;
  throw new UserError('BASELINE_NAME', `"${name}" cannot be used as a baseline ${what}`, {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  });
};

/** An agent may be called anything; a folder may not. Other names become a slug with a short hash, so that no two agents share one. */
function agentFolder(agent: string): string {
  if (SAFE_NAME.test(agent)) return agent;
  const slug = agent
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return `${slug || 'agent'}-${sha256Hex(agent).slice(0, 6)}`;
}

/** Where the baseline of a query is kept. Names that would leave the folder are refused. */
export const baselinePath = (place: { dir: string; agent: string; version: string; queryId: string }): string =>
  join(
    place.dir,
    agentFolder(place.agent),
    safeName('version', place.version),
    `${safeName('query id', place.queryId)}.json`,
  );

/** Every baseline of an agent: `<agent>/<version>/<query-id>.json`, and the older one-file `<agent>/<version>.json`. */
export function listBaselineFiles(dir: string, agent: string): BaselineFile[] {
  return filesIn(join(dir, agentFolder(agent)));
}

/** Every baseline of every agent under a folder. */
export function listAllBaselineFiles(dir: string): BaselineFile[] {
  if (!existsSync(dir)) return [];
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map((entry) => entry.name)
    .sort()
    .flatMap((name) => filesIn(join(dir, name)));
}

function filesIn(root: string): BaselineFile[] {
  if (!existsSync(root)) return [];
  const found: BaselineFile[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isDirectory()) {
      for (const name of readdirSync(join(root, entry.name)).sort()) {
        if (name.endsWith('.json')) found.push(readInfo(join(root, entry.name, name)));
      }
    } else if (entry.name.endsWith('.json')) {
      found.push(readInfo(join(root, entry.name)));
    }
  }
  return found;
}

/** A recording beyond this is no baseline anybody reviews. */
const MAX_BYTES = 256 * 1024 * 1024;

function readInfo(file: string): BaselineFile {
  let value: unknown;
  if (statSync(file).size > MAX_BYTES)
    throw new UserError('BASELINE_UNREADABLE', `${file} is larger than ${MAX_BYTES} bytes`);
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UserError('BASELINE_UNREADABLE', `${file} is not JSON: ${(error as Error).message}`);
  }
  refuseNewer(file, value);
  const info = value as Partial<BaselineInfo> & { trace?: unknown };
  if (
    typeof info !== 'object' ||
    info === null ||
    typeof info.version !== 'string' ||
    typeof info.agent !== 'string' ||
    typeof info.query !== 'string' ||
    !info.trace
  ) {
    throw new UserError('BASELINE_UNREADABLE', `${file} is not a baseline: it needs version, agent, query and trace`);
  }
  return {
    file,
    version: info.version,
    agent: info.agent,
    query: info.query,
    ...(typeof info.query_id === 'string' ? { query_id: info.query_id } : {}),
    ...(typeof info.captured_at === 'string' ? { captured_at: info.captured_at } : {}),
    metadata: typeof info.metadata === 'object' && info.metadata !== null ? info.metadata : {},
  };
}

/** The trace inside a baseline file, in whatever format it was saved. */
export async function readBaselineTrace(file: string): Promise<Trace> {
  for await (const trace of readTraces(file)) return trace;
  throw new UserError('BASELINE_UNREADABLE', `${file} holds no trace`);
}

/** A file written by a later program is refused by name, never guessed at. */
function refuseNewer(file: string, value: unknown): void {
  const { schema, schema_version } = (value ?? {}) as { schema?: unknown; schema_version?: unknown };
  const isOurs = typeof schema === 'string' && schema.startsWith('agentci.baseline/');
  const newer = isOurs && schema !== BASELINE_SCHEMA ? schema : undefined;
  const version =
    typeof schema_version === 'number' && schema_version > 1 ? `schema version ${schema_version}` : undefined;
  const name = newer ?? version;
  if (name === undefined) return;
  throw new UserError('BASELINE_TOO_NEW', `${file} is of ${name}, which this program does not know`, {
    hint: `It reads ${BASELINE_SCHEMA}; save the baseline again, or use a newer agentci.`,
  });
}

/** Writes a baseline. An existing file is only replaced when asked to. */
export function writeBaseline(
  file: string,
  content: BaselineInfo & { readonly trace: Trace },
  options: { readonly overwrite: boolean },
): void {
  if (!options.overwrite && existsSync(file)) {
    throw new UserError('BASELINE_EXISTS', `${file} exists already`, {
      hint: 'Choose another --version, or replace it with --overwrite.',
    });
  }
  writeFileAtomic(file, baselineText({ schema: BASELINE_SCHEMA, ...SECRETS.value(content) }));
}
