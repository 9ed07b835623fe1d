import { handoffs } from '@agentci/trace';
import { adviceForHandoff } from '../calls.ts';
import { withoutStep } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'lost-handoff',
  layer: 'path',
  summary: 'the run is not handed to the other agent',
  sites: (trace) =>
    handoffs(trace).map((step) => ({
      what: `dropping the handoff to \`${step.to}\``,
      make: () => withoutStep(trace, step),
      advice: adviceForHandoff(step.to),
    })),
});
