import { sha256Hex } from '@agentci/lib/data';
import { accepts, type Infer, v } from '@agentci/lib/values';
import { caseKey } from '@agentci/results';

const RUN_ID = v.string().regex(/^[\w.-]{1,100}$/);
const AMOUNT = v.number().min(0).optional();
const JOB = v.strictObject({
  run: RUN_ID,
  id: v.string().min(1).max(500),
  cell: v.record(v.string(), v.string()).optional(),
  repeat: v.int().min(1).max(1000),
});
const QUEUED_RUN = v.strictObject({
  run: RUN_ID,
  agent: v.string(),
  /** Hash of the spec. */
  spec: v.string(),
  /** Version of AgentCI. */
  version: v.string(),
  settings: v.strictObject({
    timeoutMs: AMOUNT,
    retries: AMOUNT,
    seed: v.number().optional(),
    maxCostUsd: AMOUNT,
    cassette: v.enum(['replay', 'off']),
    judge: v.enum(['live', 'recorded', 'off']).optional(),
  }),
});

/**
 * One repeat of one query. Refers to the worker's copy of the spec, and holds nothing to execute.
 */
export type Job = Readonly<Infer<typeof JOB>>;

/** The part of a run that workers need. */
export type QueuedRun = Readonly<Infer<typeof QUEUED_RUN>>;

/** The job's id in BullMQ: equal jobs have equal ids, so a job is in the queue only once. */
export const jobName = ({ run, id, cell, repeat }: Job): string =>
  `${run}_${sha256Hex(caseKey({ id, cell })).slice(0, 24)}_${repeat}`;

/** Reads a job from the queue; undefined if it is not one of AgentCI. */
export const readJob = (value: unknown): Job | undefined =>
  accepts(JOB, value) ? (value as Job) : undefined;

/** Reads the description of a run from Redis; undefined if it is not one. */
export function readQueuedRun(text: string): QueuedRun | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return accepts(QUEUED_RUN, value) ? (value as QueuedRun) : undefined;
  } catch {
    return undefined;
  }
}
