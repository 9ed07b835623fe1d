import type { ToolStep } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { adviceForCall, nameOfCall, stepOf } from '../calls.ts';
import { replaceStep } from '../edit-trace.ts';
import { defineOperator, pick } from '../operator.ts';

export const operator = defineOperator({
  name: 'rename-call',
  layer: 'path',
  summary: 'another tool is called instead',
  sites: (trace, { otherTools, random }) => {
    const calls = toolCalls(trace);
    const names = calls.map(({ name }) => name);
    return calls.map((call, i) => {
      const name = pick(otherTools, random) ?? `${call.name}_v2`;
      return {
        what: `calling \`${name}\` instead of ${nameOfCall(names, i)}`,
        make: () => {
          const { rawName: _, ...rest } = stepOf(trace, call) as ToolStep;
          return replaceStep(trace, stepOf(trace, call), { ...rest, name });
        },
        advice: adviceForCall(calls, i),
      };
    });
  },
});
