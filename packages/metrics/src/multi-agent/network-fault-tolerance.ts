import { hasValues } from '@agentci/lib/data';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { multiAgentInput } from './inputs.ts';
import { InteractionAnalyzer } from './interaction-analyzer.ts';

/** The number of pairs of partners grows with the cube of the agents. */
const MAX_PAIRS = 100_000;

export const metric = defineMetric({
  name: 'network_fault_tolerance',
  group: 'multi-agent',
  layer: 'path',
  needs: ['messages between agents', 'at least two agents with a role'],
  summary: 'how well the talk between agents would survive the loss of one',
  evaluate: ({ trace }) => {
    const input = trace ? multiAgentInput(trace) : undefined;
    if (input === undefined || input.interactions.length === 0)
      return notMeasured('no interaction data in trace');
    const agents = Object.keys(input.agentRoles ?? {});
    if (agents.length < 2) return notMeasured('fewer than two agents with a role');
    const { adjacency } = new InteractionAnalyzer(input.interactions);
    const pairs = [...adjacency.values()].reduce((sum, partners) => sum + partners.size, 0);
    if (pairs > MAX_PAIRS)
      return notMeasured(`${pairs} pairs of agents talk, more than can be analysed (${MAX_PAIRS})`);
    // Loads the graph library, which only this metric needs.
    return import('./network-analyzer.ts').then(({ NetworkAnalyzer }) => {
      const network = new NetworkAnalyzer(adjacency, agents);
      const raw = network.raw();
      return measured(network.calculateFaultTolerance(), {
        density: network.calculateDensity(),
        centralization: network.calculateCentralization(),
        clustering: network.calculateClusteringCoefficient(),
        hub_agents: network.findHubAgents(),
        bottleneck_count: network.findBottleneckAgents().length,
        bottleneck_agents: network.findBottleneckAgents(),
        avg_path_length: network.calculateAvgPathLength(),
        raw: hasValues(raw) ? raw : undefined,
      });
    });
  },
});
