import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import type { CaseName } from '@agentci/results';

const SHARD_SCHEMA = 'agentci.shard/1';
/** A plan names every case once or twice; more than this is not a plan. */
const MAX_BYTES = 256 * 1024 * 1024;

/** `shard.json` of a run folder: which part of which plan the run is. It is there from the start, so that a killed shard is known. */
export interface ShardFile {
  readonly schema: typeof SHARD_SCHEMA;
  /** Of the program. */
  readonly version: string;
  readonly agent: string;
  readonly spec: { readonly file: string; readonly hash: string };
  readonly index: number;
  readonly count: number;
  readonly plan_hash: string;
  /** How many results all of the suite has, whatever was chosen of it. */
  readonly suite_size?: number;
  /** The command that ran it, without a choice of queries. */
  readonly command?: string;
  /** The job that ran it; absent outside CI. */
  readonly ci?: CiJob;
}

/** A job of a run of a CI system. */
export interface CiJob {
  /** The variable that names the run, and its value. */
  readonly run: string;
  /** How often the run was started, counting this. */
  readonly attempt?: number;
  /** Grows with every attempt of this job, and says nothing about others. */
  readonly job?: number;
  /** What the job is called, in every attempt; jobs of a matrix may share it. */
  readonly name?: string;
  /** The machine it ran on, in a few digits that tell it from others. */
  readonly machine?: string;
}

/** `plan.json` beside it, the same in every shard. */
export interface PlanFile {
  /** Every case of the plan, in the order of the spec. */
  readonly cases: readonly CaseName[];
  /** How often each of them is run. */
  readonly runs: readonly number[];
  /** The ids of every shard. */
  readonly shards: readonly (readonly string[])[];
  /** Positions of cases that are expected to fail: what their runs came to is not their verdict. */
  readonly xfail: readonly number[];
}

export const shardPath = (dir: string): string => join(dir, 'shard.json');
export const planPath = (dir: string): string => join(dir, 'plan.json');
/** What is decided over the whole run is decided from this file of each shard. */
export const gatesPath = (dir: string): string => join(dir, 'gates.json');

export const shardText = (file: Omit<ShardFile, 'schema'>): string =>
  `${JSON.stringify({ schema: SHARD_SCHEMA, ...file })}\n`;

/** Reads `shard.json`; a text says what is wrong with it. */
export function readShardFile(dir: string): ShardFile | string {
  return readFile(shardPath(dir), isShardFile, `an ${SHARD_SCHEMA} file`);
}

/** Reads `plan.json`; a text says what is wrong with it. */
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

/** It may come from anywhere: nothing of it is used that has another shape. */
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
