import type { MultiAgentInput } from './inputs.ts';
import { InteractionAnalyzer } from './interaction-analyzer.ts';

export interface CoordinationParts {
  readonly handoff_success_rate: number;
  readonly conflict_resolution_rate: number;
  readonly communication_efficiency: number;
  readonly role_adherence: number;
  readonly load_balance_score: number;
}

/** AgentUnit's weights. */
export const coordinationScore = (parts: CoordinationParts): number =>
  0.25 * parts.handoff_success_rate +
  0.2 * parts.conflict_resolution_rate +
  0.25 * parts.communication_efficiency +
  0.15 * parts.role_adherence +
  0.15 * parts.load_balance_score;

/** All coordination metrics of a set of agents. */
export function coordinationMetrics({
  interactions,
  handoffs,
  conflicts,
  agentRoles = {},
}: MultiAgentInput) {
  const analyzer = new InteractionAnalyzer(interactions, handoffs, conflicts);
  return {
    ...analyzer.calculateHandoffMetrics(),
    ...analyzer.calculateConflictMetrics(),
    communication_efficiency: analyzer.calculateCommunicationEfficiency(),
    role_adherence: analyzer.calculateRoleAdherence(agentRoles),
    load_balance_score: analyzer.calculateLoadBalance(),
  };
}
