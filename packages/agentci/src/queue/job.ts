import { sha256Hex } from '../kit/hash.ts';
import { isObject } from '../kit/object.ts';
import { type CaseName, type Cell, caseKey } from '../results/cell.ts';

/** One run of one case, as it is in the queue: a name for what the worker has, never something to execute. */
export interface Job extends CaseName {
  readonly run: string;
  readonly repeat: number;
}

/** What a run is, as workers must know it. */
export interface Ticket {
  readonly run: string;
  readonly agent: string;
  /** Hash of the spec. */
  readonly spec: string;
  /** Of this program. */
  readonly version: string;
  readonly settings: TicketSettings;
}

export interface TicketSettings {
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly seed?: number;
  readonly maxCostUsd?: number;
  readonly cassette?: 'replay' | 'off';
  readonly judge?: 'live' | 'recorded' | 'off';
}

/** The name of a job is needed several times, and its hash is most of what it costs to put the job into the queue. */
const NAMES = new WeakMap<Job, string>();

/** The same for the same run of the same case, whoever makes it. */
export function nameOf(job: Job): string {
  let name = NAMES.get(job);
  if (name === undefined) {
    const { run, id, cell, repeat } = job;
    name = `${run}_${sha256Hex(caseKey({ id, cell })).slice(0, 24)}_${repeat}`;
    NAMES.set(job, name);
  }
  return name;
}

const RUN_ID = /^[\w.-]{1,100}$/;
const MAX_ID = 500;

/** A job as it came out of the queue; undefined where it is not one. */
export function readJob(value: unknown): Job | undefined {
  if (!isObject(value)) return undefined;
  const { run, id, cell, repeat } = value;
  if (typeof run !== 'string' || !RUN_ID.test(run)) return undefined;
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) return undefined;
  if (!Number.isInteger(repeat) || (repeat as number) < 1 || (repeat as number) > 1000)
    return undefined;
  if (cell !== undefined && !isCell(cell)) return undefined;
  return { run, id, repeat: repeat as number, cell };
}

const isCell = (value: unknown): value is Cell =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** A ticket as it came out of Redis; undefined where it is not one. */
export function readTicket(text: string): Ticket | undefined {
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

function readSettings(given: Readonly<Record<string, unknown>>): TicketSettings {
  const number = (name: string): Record<string, number> => {
    const value = given[name];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0
      ? { [name]: value }
      : {};
  };
  const { cassette, judge } = given;
  return {
    ...number('timeoutMs'),
    ...number('retries'),
    ...number('seed'),
    ...number('maxCostUsd'),
    ...(cassette === 'replay' || cassette === 'off' ? { cassette } : {}),
    ...(judge === 'live' || judge === 'recorded' || judge === 'off' ? { judge } : {}),
  };
}
