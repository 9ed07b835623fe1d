import type { ToolStep } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { nameOfCall, stepOf } from '../calls.ts';
import { replaceStep } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'ignored-error',
  layer: 'path',
  summary: 'a tool fails and the agent carries on as if it had not',
  sites: (trace) => {
    const calls = toolCalls(trace);
    const names = calls.map(({ name }) => name);
    const errors = calls.filter(({ status }) => status === 'error').length;
    return calls.flatMap((call, i) => {
      if (call.status === 'error') return [];
      return {
        what: `an error of ${nameOfCall(names, i)} that the agent ignores`,
        make: () => {
          const { result: _, resultParts: __, ...rest } = stepOf(trace, call) as ToolStep;
          const error = { type: 'ToolError', message: 'the tool failed' };
          return replaceStep(trace, stepOf(trace, call), { ...rest, status: 'error', error });
        },
        advice: [{ layer: 'path', key: 'max_tool_errors', value: errors }],
      };
    });
  },
});
