import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import type { CaseName } from '@agentci/results';

const SHARD_SCHEMA = 'agentci.shard/1';
/** A plan names every case once or twice. A larger file is not a plan. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * `shard.json` of a run folder: its part of a plan. Written at the start, so that a killed shard is
 * known.
 */
export interface ShardFile {
  readonly schema: typeof SHARD_SCHEMA;
  /** Version of the program. */
  readonly version: string;
  readonly agent: string;
  readonly spec: { readonly file: string; readonly hash: string };
  readonly index: number;
  readonly count: number;
  readonly plan_hash: string;
  /** Number of results in the whole suite, before any selection. */
  readonly suite_size?: number;
  /** The command that ran it, without the selection of queries. */
  readonly command?: string;
  /** The CI job. Absent outside CI. */
  readonly ci?: CiJob;
}

/** A job in a run of a CI system. */
export interface CiJob {
  /** The variable with the id of the CI run, and its value. */
  readonly run: string;
  /** Number of starts of the run so far. */
  readonly attempt?: number;
  /** Grows with every attempt of this job, independent of other jobs. */
  readonly job?: number;
  /** Name of the job in every attempt. Jobs of a matrix may share it. */
  readonly name?: string;
  /** Short id of the machine. */
  readonly machine?: string;
}

/** `plan.json` next to it, the same in every shard. */
export interface PlanFile {
  /** Every case of the plan, in the order of the spec. */
  readonly cases: readonly CaseName[];
  /** Number of runs of each case. */
  readonly runs: readonly number[];
  /** The ids of every shard. */
  readonly shards: readonly (readonly string[])[];
  /**
   * Positions of cases that are expected to fail. The status of their runs is not their verdict.
   */
  readonly xfail: readonly number[];
}

export const shardPath = (dir: string): string => join(dir, 'shard.json');
export const planPath = (dir: string): string => join(dir, 'plan.json');
/** The file of each shard with the data for checks over the whole run. */
export const gatesPath = (dir: string): string => join(dir, 'gates.json');

export const shardText = (file: Omit<ShardFile, 'schema'>): string =>
  `${JSON.stringify({ schema: SHARD_SCHEMA, ...file })}\n`;

/** Reads `shard.json`. Returns a text with the problem if it is invalid. */
export function readShardFile(dir: string): ShardFile | string {
  return readFile(shardPath(dir), isShardFile, `an ${SHARD_SCHEMA} file`);
}

/** Reads `plan.json`. Returns a text with the problem if it is invalid. */
export function readPlanFile(dir: string, count: number): PlanFile | string {
  return readFile(
    planPath(dir),
    (file): file is PlanFile => isPlanFile(file, count),
    `a plan of ${count} shards`,
  );
}

function readFile<T>(path: string, is: (file: unknown) => file is T, what: string): T | string {
  try {
    if (statSync(path).size > MAX_BYTES) return `${path} is too large`;
    const file: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return is(file) ? file : `${path} is not ${what}`;
  } catch (error) {
    return `${path} cannot be read: ${(error as Error).message}`;
  }
}

/** The file may come from anywhere, so its shape is validated. */
function isShardFile(file: unknown): file is ShardFile {
  if (!isObject(file) || file.schema !== SHARD_SCHEMA || !isObject(file.spec)) return false;
  const { version, agent, spec, index, count, plan_hash, suite_size, command, ci } = file;
  return (
    (ci === undefined || isCiJob(ci)) &&
    (suite_size === undefined || Number.isInteger(suite_size)) &&
    (command === undefined || typeof command === 'string') &&
    [version, agent, spec.file, spec.hash, plan_hash].every((text) => typeof text === 'string') &&
    Number.isInteger(index) &&
    Number.isInteger(count) &&
    (index as number) >= 1 &&
    (index as number) <= (count as number)
  );
}

const isCiJob = (ci: unknown): boolean =>
  isObject(ci) &&
  typeof ci.run === 'string' &&
  [ci.attempt, ci.job].every((number) => number === undefined || Number.isInteger(number)) &&
  [ci.name, ci.machine].every((text) => text === undefined || typeof text === 'string');

function isPlanFile(file: unknown, count: number): file is PlanFile {
  if (!isObject(file)) return false;
  const { cases, runs, shards, xfail } = file;
  return (
    Array.isArray(cases) &&
    Array.isArray(xfail) &&
    xfail.every((at) => Number.isInteger(at)) &&
    cases.every((each) => isObject(each) && typeof each.id === 'string' && isCell(each.cell)) &&
    Array.isArray(runs) &&
    runs.length === cases.length &&
    runs.every((times) => Number.isInteger(times)) &&
    Array.isArray(shards) &&
    shards.length === count &&
    shards.every((ids) => Array.isArray(ids) && ids.every((id) => typeof id === 'string'))
  );
}

const isCell = (cell: unknown): boolean =>
  cell === undefined ||
  (isObject(cell) && Object.values(cell).every((value) => typeof value === 'string'));
