// Agents that send messages: each message is a prompt to its receiver, and the reply is a message
// back.
import { complete, type Reply } from './incident.ts';

export interface Member {
  readonly role: string;
  readonly system: string;
  readonly authority: number;
  readonly canDelegate: boolean;
}

type InteractionType = 'delegation' | 'negotiation' | 'collaboration' | 'response';

interface Interaction {
  readonly from_agent: string;
  readonly to_agent: string;
  readonly interaction_type: InteractionType;
  readonly response_time?: number;
  readonly success: boolean;
  readonly content: string;
}

const MS_PER_SECOND = 1000;

/** Delivers messages and records data for the multi-agent metrics. */
export class Team {
  readonly #members: Readonly<Record<string, Member>>;
  readonly #seed: number;
  readonly #interactions: Interaction[] = [];
  readonly #handoffs: { from: string; to: string; success: boolean; handoff_time: number }[] = [];
  readonly #conflicts: { about: string; resolved: boolean; resolution_time: number }[] = [];
  readonly #calls: Reply['call'][] = [];

  constructor(members: Readonly<Record<string, Member>>, seed: number) {
    this.#members = members;
    this.#seed = seed;
  }

  /** Sends a message and waits for the answer. A delegation includes a handoff. */
  async ask(from: string, to: string, type: InteractionType, content: string): Promise<string> {
    const member = this.#members[to];
    if (member === undefined) throw new Error(`nobody is called ${to}`);
    const started = performance.now();
    const { text, call } = await complete(member.system, content, this.#seed);
    const seconds = (performance.now() - started) / MS_PER_SECOND;
    const success = text.trim() !== '';
    this.#calls.push(call);
    this.#interactions.push(
      {
        from_agent: from,
        to_agent: to,
        interaction_type: type,
        response_time: seconds,
        success,
        content,
      },
      { from_agent: to, to_agent: from, interaction_type: 'response', success, content: text },
    );
    if (type === 'delegation') this.#handoffs.push({ from, to, success, handoff_time: seconds });
    return text;
  }

  /** Records a disagreement and its resolution. */
  noteConflict(about: string, resolved: boolean, startedAt: number): void {
    this.#conflicts.push({
      about,
      resolved,
      resolution_time: (performance.now() - startedAt) / MS_PER_SECOND,
    });
  }

  /** The multi-agent parts of the simple form. */
  recording() {
    return {
      llm_calls: this.#calls,
      interactions: this.#interactions,
      handoffs: this.#handoffs,
      conflicts: this.#conflicts,
      agent_roles: Object.fromEntries(
        Object.entries(this.#members).map(([name, { role, authority, canDelegate }]) => [
          name,
          { role, authority_level: authority, can_delegate: canDelegate },
        ]),
      ),
    };
  }
}
