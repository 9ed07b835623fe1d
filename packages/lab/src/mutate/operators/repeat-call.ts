import { toolCalls } from '@agentci/trace';
import { allCalls, nameOfCall, stepOf } from '../calls.ts';
import { freshId, insertCall } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'repeat-call',
  layer: 'path',
  summary: 'one tool call is made twice',
  sites: (trace) => {
    const calls = toolCalls(trace);
    const names = calls.map(({ name }) => name);
    return calls.map((call, i) => ({
      what: `repeating ${nameOfCall(names, i)}`,
      make: () => {
        const { callId, ...again } = call;
        const id = freshId(trace, `${call.id}-again`);
        const fresh = {
          ...again,
          id,
          callId: callId === undefined ? undefined : `${callId}-again`,
        };
        return insertCall(trace, stepOf(trace, call), fresh);
      },
      advice: [
        { layer: 'path', key: 'max_tool_calls', value: calls.length },
        { layer: 'path', key: 'max_identical_calls', value: 1 },
        allCalls(calls),
      ],
    }));
  },
});
