import { toolCalls } from '@agentci/trace';
import { adviceForCall, nameOfCall, stepOf } from '../calls.ts';
import { withoutStep } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'drop-call',
  layer: 'path',
  summary: 'one tool call is left out',
  sites: (trace) => {
    const calls = toolCalls(trace);
    const names = calls.map(({ name }) => name);
    return calls.map((call, i) => ({
      what: `dropping ${nameOfCall(names, i)}`,
      make: () => withoutStep(trace, stepOf(trace, call)),
      advice: adviceForCall(calls, i),
    }));
  },
});
