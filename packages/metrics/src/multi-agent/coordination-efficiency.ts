import { defineMetric, measured, notMeasured } from '../metric.ts';
import { coordinationMetrics, coordinationScore } from './coordination.ts';
import { multiAgentInput } from './inputs.ts';

export const metric = defineMetric({
  name: 'coordination_efficiency',
  group: 'multi-agent',
  layer: 'path',
  needs: ['messages between agents'],
  summary: 'handoffs, conflicts, communication, roles and load of several agents in one score',
  evaluate: ({ trace }) => {
    const input = trace ? multiAgentInput(trace) : undefined;
    if (input === undefined || input.interactions.length === 0)
      return notMeasured('no interaction data in trace');
    const {
      handoff_success_rate,
      conflict_resolution_rate,
      communication_efficiency,
      role_adherence,
      load_balance_score,
    } = coordinationMetrics(input);
    const parts = {
      handoff_success_rate,
      conflict_resolution_rate,
      communication_efficiency,
      role_adherence,
      load_balance_score,
    };
    return measured(coordinationScore(parts), parts);
  },
});
