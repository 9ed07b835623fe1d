import { mean } from '../input.ts';
import {
  type AgentInteraction,
  type AgentRole,
  type ConflictEvent,
  type HandoffEvent,
  recipientsOf,
} from './inputs.ts';

const DEFAULT_AUTHORITY = 5;
/** A mean answer time up to this many seconds gets the full score. */
const PROMPT_SECONDS = 5;

/**
 * Analyzes how agents work together, from messages, handoffs and conflicts. A message to several
 * agents counts once for each.
 */
export class InteractionAnalyzer {
  readonly #interactions: readonly AgentInteraction[];
  readonly #handoffs: readonly HandoffEvent[];
  readonly #conflicts: readonly ConflictEvent[];
  readonly #adjacency = new Map<string, Set<string>>();
  readonly #pairs = new Map<string, number>();
  readonly #activity = new Map<string, number>();

  constructor(
    interactions: readonly AgentInteraction[],
    handoffs: readonly HandoffEvent[] = [],
    conflicts: readonly ConflictEvent[] = [],
  ) {
    this.#interactions = interactions;
    this.#handoffs = handoffs;
    this.#conflicts = conflicts;
    for (const interaction of interactions) {
      const from = interaction.from_agent;
      for (const to of recipientsOf(interaction)) {
        const known = this.#adjacency.get(from);
        if (known) known.add(to);
        else this.#adjacency.set(from, new Set([to]));
        add(this.#pairs, JSON.stringify([from, to]));
        add(this.#activity, from);
        add(this.#activity, to);
      }
    }
  }

  /** Recipients by sender. */
  get adjacency(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#adjacency;
  }

  /** Sent and received messages per agent. */
  get agentActivity(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#activity);
  }

  calculateHandoffMetrics(): { handoff_success_rate: number; avg_handoff_time: number } {
    const handoffs = this.#handoffs;
    if (handoffs.length === 0) return { handoff_success_rate: 1, avg_handoff_time: 0 };
    return {
      handoff_success_rate:
        handoffs.filter(({ success }) => success !== false).length / handoffs.length,
      avg_handoff_time: mean(handoffs.map(({ handoff_time }) => handoff_time ?? 0)),
    };
  }

  /** `conflict_rate` is per 100 interactions. Times count for resolved conflicts only. */
  calculateConflictMetrics(): {
    conflict_rate: number;
    conflict_resolution_rate: number;
    avg_resolution_time: number;
  } {
    const conflicts = this.#conflicts;
    if (conflicts.length === 0)
      return { conflict_rate: 0, conflict_resolution_rate: 1, avg_resolution_time: 0 };
    const resolved = conflicts.filter((conflict) => conflict.resolved === true);
    return {
      conflict_rate: (100 * conflicts.length) / Math.max(this.#interactions.length, 1),
      conflict_resolution_rate: resolved.length / conflicts.length,
      avg_resolution_time:
        resolved.length === 0
          ? 0
          : mean(resolved.map(({ resolution_time }) => resolution_time ?? 0)),
    };
  }

  /** Success, promptness and evenness of the traffic between pairs. 1 if there was none. */
  calculateCommunicationEfficiency(): number {
    const interactions = this.#interactions;
    if (interactions.length === 0) return 1;
    const success =
      interactions.filter((interaction) => interaction.success !== false).length /
      interactions.length;
    const times = interactions.flatMap(({ response_time = 0 }) =>
      response_time > 0 ? [response_time] : [],
    );
    const promptness = times.length === 0 ? 1 : Math.min(1, PROMPT_SECONDS / mean(times));
    const counts = [...this.#pairs.values()];
    const evenness =
      counts.length === 0 ? 1 : mean(counts) / counts.reduce((a, b) => Math.max(a, b), 1);
    return 0.5 * success + 0.3 * promptness + 0.2 * evenness;
  }

  /** 1 minus the coefficient of variation of the agents' activity, at least 0. */
  calculateLoadBalance(): number {
    const counts = [...this.#activity.values()];
    if (counts.length === 0) return 1;
    const average = mean(counts);
    const deviation = Math.sqrt(mean(counts.map((count) => (count - average) ** 2)));
    return Math.max(0, 1 - deviation / average);
  }

  /**
   * Share of messages that match the sender's role: only some agents may delegate, and only senior
   * ones respond.
   */
  calculateRoleAdherence(agentRoles: Readonly<Record<string, AgentRole>>): number {
    let counted = 0;
    let adherent = 0;
    for (const { from_agent, interaction_type } of this.#interactions) {
      const role = Object.hasOwn(agentRoles, from_agent) ? agentRoles[from_agent] : undefined;
      if (role === undefined) continue;
      counted++;
      const oversteps =
        (interaction_type === 'delegation' && role.can_delegate !== true) ||
        (interaction_type === 'response' &&
          (role.authority_level ?? DEFAULT_AUTHORITY) < DEFAULT_AUTHORITY);
      if (!oversteps) adherent++;
    }
    return counted === 0 ? 1 : adherent / counted;
  }
}

const add = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
