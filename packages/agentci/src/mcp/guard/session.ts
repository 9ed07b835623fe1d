import type { LiveJudge } from '../../policy/live-judge.ts';

/** What the guard knows of one client's run: its calls so far and what is under way. */
export interface Session {
  readonly id: string;
  readonly judge: LiveJudge;
  /** Calls that were let through and not answered yet, by typed id. */
  readonly open: Map<string, OpenCall>;
  /** Requests for the list of tools, likewise. */
  readonly lists: Set<string>;
  /** Requests whose answer tells the protocol version. */
  readonly hellos: Set<string>;
  /** Calls that the server asked the user about, by what must come back with the rest. */
  readonly waiting: OpenCall[];
  version: string | undefined;
  calls: number;
  refused: number;
}

export interface OpenCall {
  readonly tool: string;
  /** Canonical, to know the call again. */
  readonly args: string;
  /** Set where the server gave one when it asked for input. */
  readonly state?: string;
}

export const newSession = (id: string, judge: LiveJudge): Session => ({
  id,
  judge,
  open: new Map(),
  lists: new Set(),
  hellos: new Set(),
  waiting: [],
  version: undefined,
  calls: 0,
  refused: 0,
});
