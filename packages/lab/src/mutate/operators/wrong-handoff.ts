import { handoffs } from '@agentci/trace';
import { adviceForHandoff } from '../calls.ts';
import { replaceStep } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'wrong-handoff',
  layer: 'path',
  summary: 'the run is handed to another agent',
  sites: (trace) =>
    handoffs(trace).map((step) => {
      const names = trace.agents.map(({ name }) => name);
      const to = names.find((name) => name !== step.to && name !== step.from) ?? `${step.to}_2`;
      return {
        what: `a handoff to \`${to}\` instead of \`${step.to}\``,
        make: () => replaceStep(trace, step, { ...step, to }),
        advice: adviceForHandoff(step.to),
      };
    }),
});
