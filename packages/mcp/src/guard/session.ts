import type { ListedTool, LiveJudge } from '@agentci/policy';
import { idKey } from '../message.ts';

/** The guard's state for one client's run: its calls so far and pending requests. */
export interface Session {
  readonly id: string;
  readonly judge: LiveJudge;
  /** Allowed calls without an answer, by typed id. A cancelled call may still be answered. */
  readonly open: Map<string, OpenCall>;
  /** Calls that the client cancelled, oldest first. */
  readonly cancelled: Set<string>;
  /** Pending requests for the list of tools, likewise. */
  readonly lists: Set<string>;
  /** Requests whose answer contains the protocol version. */
  readonly hellos: Set<string>;
  /** Other pending requests. Answers to unknown requests are not forwarded. */
  readonly others: Set<string>;
  /** Calls that the server asked the user about, by the expected state. */
  readonly waiting: OpenCall[];
  /** Tool definitions from servers, by name. */
  readonly tools: Map<string, ListedTool>;
  version: string | undefined;
  calls: number;
  refused: number;
  /** Number of withheld answers. */
  withheld: number;
}

export interface OpenCall {
  /** Id for the answer. */
  readonly id: unknown;
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
  /** Canonical form, to recognize the call again. */
  readonly args: string;
  /** Set if the server sent one with its question. */
  readonly state?: string;
  /** The protocol version that defines the answer's form. */
  readonly version: string | undefined;
  /** Index of the call in the history. */
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
 * The key of the request that an answer belongs to. A client may take "1" for 1, so an unknown id
 * is also tried as the other type.
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
