import { sha256Hex } from '../kit/hash.ts';
import { isObject } from '../kit/object.ts';
import { type CaseName, type Cell, caseKey } from '../results/cell.ts';

/** One repeat of one query. It names what the worker has in its spec, and holds nothing to execute. */
export interface Job extends CaseName {
  readonly run: string;
  readonly repeat: number;
}

/** What workers must know of a run. */
export interface QueuedRun {
  readonly run: string;
  readonly agent: string;
  /** Hash of the spec. */
  readonly spec: string;
  /** Of AgentCI. */
  readonly version: string;
  readonly settings: RunSettings;
}

export interface RunSettings {
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  readonly seed?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  readonly cassette?: 'replay' | 'off' | undefined;
  readonly judge?: 'live' | 'recorded' | 'off' | undefined;
}

const RUN_ID = /^[\w.-]{1,100}$/;
const MAX_ID = 500;
const MAX_REPEAT = 1000;

/** The job's id in BullMQ: equal jobs have equal ids, so a job is in the queue only once. */
export const jobName = ({ run, id, cell, repeat }: Job): string =>
  `${run}_${sha256Hex(caseKey({ id, cell })).slice(0, 24)}_${repeat}`;

/** Reads a job from the queue; undefined if it is not one of AgentCI. */
export function readJob(value: unknown): Job | undefined {
  if (!isObject(value)) return undefined;
  const { run, id, cell, repeat } = value;
  if (typeof run !== 'string' || !RUN_ID.test(run)) return undefined;
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) return undefined;
  if (typeof repeat !== 'number' || !Number.isInteger(repeat)) return undefined;
  if (repeat < 1 || repeat > MAX_REPEAT || (cell !== undefined && !isCell(cell))) return undefined;
  return { run, id, repeat, cell };
}

const isCell = (value: unknown): value is Cell =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** Reads the description of a run from Redis; undefined if it is not one. */
export function readQueuedRun(text: string): QueuedRun | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { run, agent, spec, version, settings } = value;
  if (typeof run !== 'string' || !RUN_ID.test(run) || !isObject(settings)) return undefined;
  if (typeof agent !== 'string' || typeof spec !== 'string' || typeof version !== 'string')
    return undefined;
  return { run, agent, spec, version, settings: readSettings(settings) };
}

function readSettings(given: Readonly<Record<string, unknown>>): RunSettings {
  const number = (value: unknown): number | undefined =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
  const { cassette, judge } = given;
  return {
    timeoutMs: number(given.timeoutMs),
    retries: number(given.retries),
    seed: number(given.seed),
    maxCostUsd: number(given.maxCostUsd),
    cassette: cassette === 'replay' || cassette === 'off' ? cassette : undefined,
    judge: judge === 'live' || judge === 'recorded' || judge === 'off' ? judge : undefined,
  };
}
