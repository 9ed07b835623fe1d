import { clamp01, mean } from '../input.ts';
import type { AgentInteraction, AgentRole } from './inputs.ts';

/** Fewer messages have no early and late half to compare. */
const MIN_FOR_ORDER = 10;
const MIN_FOR_ADAPTATION = 5;

/**
 * Emergent patterns: order, specialization, collective decisions, adaptation. Reads interactions in
 * time order.
 */
export class EmergentBehaviorDetector {
  readonly #interactions: readonly AgentInteraction[];

  constructor(
    interactions: readonly AgentInteraction[],
    _agentRoles: Readonly<Record<string, AgentRole>> = {},
  ) {
    this.#interactions = interactions;
  }

  /** Entropy in bits of sender and message type. */
  calculateEntropy(interactions: readonly AgentInteraction[] = this.#interactions): number {
    const counts = countBy(interactions, ({ from_agent, interaction_type = 'request' }) =>
      JSON.stringify([from_agent, interaction_type]),
    );
    let bits = 0;
    for (const count of counts.values())
      bits -= (count / interactions.length) * Math.log2(count / interactions.length);
    return bits === 0 ? 0 : bits;
  }

  /** Whether the traffic became more regular. 0.5 means no change. */
  detectSelfOrganization(): number {
    const all = this.#interactions;
    if (all.length < MIN_FOR_ORDER) return 0;
    const middle = Math.floor(all.length / 2);
    const early = this.calculateEntropy(all.slice(0, middle));
    if (early === 0) return 0.5;
    return clamp01(0.5 + (early - this.calculateEntropy(all.slice(middle))) / early);
  }

  /** How concentrated each sender is on its message types. */
  detectSpecialization(): number {
    const bySender = new Map<string, AgentInteraction[]>();
    for (const interaction of this.#interactions) {
      const known = bySender.get(interaction.from_agent);
      if (known) known.push(interaction);
      else bySender.set(interaction.from_agent, [interaction]);
    }
    if (bySender.size === 0) return 0;
    return mean(
      [...bySender.values()].map((sent) => {
        const counts = countBy(sent, ({ message_type = 'generic' }) => message_type);
        return [...counts.values()].reduce((sum, count) => sum + (count / sent.length) ** 2, 0);
      }),
    );
  }

  /** Share of messages that negotiate or collaborate. */
  detectCollectiveDecisionMaking(): number {
    const all = this.#interactions;
    const together = all.filter(
      ({ interaction_type }) =>
        interaction_type === 'collaboration' || interaction_type === 'negotiation',
    );
    return all.length === 0 ? 0 : together.length / all.length;
  }

  /** Whether answers became faster. 0.5 means no change or too few answers. */
  detectAdaptationRate(): number {
    const times = this.#interactions.flatMap(({ response_time = 0 }) =>
      response_time > 0 ? [response_time] : [],
    );
    if (times.length < MIN_FOR_ADAPTATION) return 0.5;
    const middle = Math.floor(times.length / 2);
    const early = mean(times.slice(0, middle));
    return clamp01(0.5 + (early - mean(times.slice(middle))) / early);
  }

  calculateSwarmIntelligence(): number {
    return swarmScore({
      self_organization: this.detectSelfOrganization(),
      specialization: this.detectSpecialization(),
      collective_decision: this.detectCollectiveDecisionMaking(),
      adaptation_rate: this.detectAdaptationRate(),
    });
  }
}

export interface SwarmParts {
  readonly self_organization: number;
  readonly specialization: number;
  readonly collective_decision: number;
  readonly adaptation_rate: number;
}

/** AgentUnit's weights. */
export const swarmScore = (parts: SwarmParts): number =>
  0.3 * parts.self_organization +
  0.25 * parts.specialization +
  0.25 * parts.collective_decision +
  0.2 * parts.adaptation_rate;

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
