import { hasValues } from '@agentci/lib/data';
import { coordinationMetrics } from './coordination.ts';
import { EmergentBehaviorDetector } from './emergent-behavior-detector.ts';
import type { MultiAgentInput } from './inputs.ts';
import { InteractionAnalyzer } from './interaction-analyzer.ts';
import { NetworkAnalyzer } from './network-analyzer.ts';

/** All multi-agent metrics of the catalogue. `agentRoles` names the agents of the network. */
export function multiAgentMetrics(input: MultiAgentInput) {
  const { interactions, handoffs, conflicts, agentRoles = {} } = input;
  const { adjacency } = new InteractionAnalyzer(interactions, handoffs, conflicts);
  const network = new NetworkAnalyzer(adjacency, Object.keys(agentRoles));
  const detector = new EmergentBehaviorDetector(interactions, agentRoles);
  const raw = network.raw();
  return {
    coordination: coordinationMetrics(input),
    network: {
      density: network.calculateDensity(),
      centralization: network.calculateCentralization(),
      avg_path_length: network.calculateAvgPathLength(),
      clustering_coefficient: network.calculateClusteringCoefficient(),
      hub_agents: network.findHubAgents(),
      bottleneck_agents: network.findBottleneckAgents(),
      fault_tolerance: network.calculateFaultTolerance(),
      raw: hasValues(raw) ? raw : undefined,
    },
    emergent: {
      self_organization_score: detector.detectSelfOrganization(),
      specialization_emergence: detector.detectSpecialization(),
      collective_decision_score: detector.detectCollectiveDecisionMaking(),
      adaptation_rate: detector.detectAdaptationRate(),
      swarm_intelligence_score: detector.calculateSwarmIntelligence(),
    },
  };
}
