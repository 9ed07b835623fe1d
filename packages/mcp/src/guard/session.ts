import type { ListedTool, LiveJudge } from '@agentci/policy';
import { idKey } from '../message.ts';

/** What the guard knows of one client's run: its calls so far and what is under way. */
export interface Session {
  readonly id: string;
  readonly judge: LiveJudge;
  /** Calls that were let through and not answered yet, by typed id. A call that was cancelled may still be answered. */
  readonly open: Map<string, OpenCall>;
  /** Those of them that the client no longer waits for, the oldest first. */
  readonly cancelled: Set<string>;
  /** Requests for the list of tools, likewise. */
  readonly lists: Set<string>;
  /** Requests whose answer tells the protocol version. */
  readonly hellos: Set<string>;
  /** Other requests, where an answer to none of them is not handed on. */
  readonly others: Set<string>;
  /** Calls that the server asked the user about, by what must come back with the rest. */
  readonly waiting: OpenCall[];
  /** What servers said of their tools, by name. */
  readonly tools: Map<string, ListedTool>;
  version: string | undefined;
  calls: number;
  refused: number;
  /** Answers that were not handed on. */
  withheld: number;
}

export interface OpenCall {
  /** To answer with. */
  readonly id: unknown;
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
  /** Canonical, to know the call again. */
  readonly args: string;
  /** Set where the server gave one when it asked for input. */
  readonly state?: string;
  /** The protocol version that the answer must have the form of. */
  readonly version: string | undefined;
  /** Which call of the history it is. */
  readonly at: number;
  readonly startedMs: number;
}

export const newSession = (id: string, judge: LiveJudge): Session => ({
  id,
  judge,
  open: new Map(),
  cancelled: new Set(),
  lists: new Set(),
  hellos: new Set(),
  others: new Set(),
  waiting: [],
  tools: new Map(),
  version: undefined,
  calls: 0,
  refused: 0,
  withheld: 0,
});

/**
 * The request that an answer belongs to, by its key. A client may take "1" for 1, so an id that no request has is also tried
 * as the other type.
 */
export function requestKey(
  id: unknown,
  { open, lists, hellos, others }: Session,
): string | undefined {
  const keys = [idKey(id), idKey(otherType(id))];
  return keys.find(
    (key) =>
      key !== undefined && (open.has(key) || lists.has(key) || hellos.has(key) || others.has(key)),
  );
}

function otherType(id: unknown): unknown {
  if (typeof id === 'number') return String(id);
  const number = typeof id === 'string' && id.trim() !== '' ? Number(id) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
