import { CallIds } from './call-ids.ts';
import type { Reply } from './conversation.ts';
import type { DraftLlm, DraftStep, Turn } from './draft.ts';

/** A reply in the making: a source may mention it in several records. */
export type OpenReply = Omit<{ -readonly [K in keyof DraftLlm]: DraftLlm[K] }, 'output'> & {
  output: OpenTurn;
};
type OpenTurn = { -readonly [K in keyof Turn]: Turn[K] };

/**
 * Collects a dialogue in order: other turns until the model replies, and any other step between
 * replies. Each reply is one model call, whose input is everything since the previous one.
 */
export class Dialogue {
  /** Threads of one run, such as sub-agents, share steps. */
  readonly steps: DraftStep[];
  #since: Turn[] = [];
  #hasReply = false;
  readonly #ids = new CallIds();

  constructor(steps: DraftStep[] = []) {
    this.steps = steps;
  }

  /** Messages to the model: of the user, the system, or results of tools. */
  hear(...turns: readonly Turn[]): void {
    for (const turn of turns) this.#since.push(this.#ids.distinct(turn));
  }

  /** A reply of the model. It may be added to until the draft is built. */
  reply(
    given: Turn,
    about: Reply & Pick<DraftLlm, 'agent' | 'parent' | 'error' | 'meta' | 'timing'> = {},
  ): OpenReply {
    const turn = this.#ids.distinct(given);
    const agent = about.agent ?? turn.agent;
    const step: OpenReply = {
      kind: 'llm',
      output: { ...turn, parts: [...turn.parts] },
      input: this.#since.length !== 0 ? this.#since : undefined,
      inputIsDelta: this.#hasReply || undefined,
      ...about,
      agent,
    };
    this.#since = [];
    this.#hasReply = true;
    this.steps.push(step);
    return step;
  }

  /** A step that is not a reply: a handoff, a guardrail, a call that was recorded as something that ran. */
  add(step: DraftStep): void {
    this.steps.push(step);
  }

  /** Turns without a reply yet, for the draft's `turns`. */
  get turns(): readonly Turn[] {
    return this.#since;
  }
}

/** Extends a reply with data from a later record. */
export function extend(reply: OpenReply, turn: Pick<Turn, 'parts' | 'calls'>): void {
  reply.output.parts = [...reply.output.parts, ...turn.parts];
  const known = new Set((reply.output.calls ?? []).map(({ id }) => id));
  const fresh = (turn.calls ?? []).filter(({ id }) => id === undefined || !known.has(id));
  if (fresh.length > 0) reply.output.calls = [...(reply.output.calls ?? []), ...fresh];
}
