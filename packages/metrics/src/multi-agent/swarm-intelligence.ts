import { defineMetric, measured, notMeasured } from '../metric.ts';
import { EmergentBehaviorDetector, swarmScore } from './emergent-behavior-detector.ts';
import { multiAgentInput } from './inputs.ts';

export const metric = defineMetric({
  name: 'swarm_intelligence',
  group: 'multi-agent',
  layer: 'path',
  needs: ['messages between agents, in time order'],
  summary: 'signs of self-organization, specialization, joint decisions and adaptation',
  evaluate: ({ trace }) => {
    const interactions = trace ? multiAgentInput(trace).interactions : [];
    if (interactions.length === 0) return notMeasured('no interaction data in trace');
    const detector = new EmergentBehaviorDetector(interactions);
    const parts = {
      self_organization: detector.detectSelfOrganization(),
      specialization: detector.detectSpecialization(),
      collective_decision: detector.detectCollectiveDecisionMaking(),
      adaptation_rate: detector.detectAdaptationRate(),
    };
    return measured(swarmScore(parts), parts);
  },
});
