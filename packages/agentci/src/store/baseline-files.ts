import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTraces } from '../adapters/read-traces.ts';
import { UserError } from '../kit/user-error.ts';
import type { Trace } from '../trace/model.ts';

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

/** Refuses names that would leave the baseline folder. */
export function baselineFolder(dir: string, agent: string, version?: string): string {
  for (const [what, name] of [
    ['agent', agent],
    ['version', version],
  ] as const) {
    if (name !== undefined && !SAFE_NAME.test(name)) {
      throw new UserError('BASELINE_NAME', `"${name}" cannot be used as a baseline ${what}`, {
        hint: 'Use letters, digits, dots, dashes and underscores.',
      });
    }
  }
  return version === undefined ? join(dir, agent) : join(dir, agent, version);
}

/** Every baseline of an agent: `<agent>/<version>/<query-id>.json`, and the older one-file `<agent>/<version>.json`. */
export function listBaselineFiles(dir: string, agent: string): BaselineFile[] {
  const root = baselineFolder(dir, agent);
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

function readInfo(file: string): BaselineFile {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UserError('BASELINE_UNREADABLE', `${file} is not JSON: ${(error as Error).message}`);
  }
  const info = value as Partial<BaselineInfo> & { trace?: unknown };
  if (
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
    metadata: info.metadata ?? {},
  };
}

/** The trace inside a baseline file, in whatever format it was saved. */
export async function readBaselineTrace(file: string): Promise<Trace> {
  for await (const trace of readTraces(file)) return trace;
  throw new UserError('BASELINE_UNREADABLE', `${file} holds no trace`);
}
