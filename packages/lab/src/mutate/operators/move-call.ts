import { toolCalls } from '@agentci/trace';
import { allCalls, stepOf } from '../calls.ts';
import { withSteps } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'move-call',
  layer: 'path',
  summary: 'two tool calls that follow each other change places',
  sites: (trace) => {
    const calls = toolCalls(trace);
    const names = calls.map(({ name }) => name);
    return calls.slice(1).flatMap((later, i) => {
      const earlier = calls[i]!;
      // Calls of one round run in parallel and have no order to change.
      const areParallel = earlier.turn !== undefined && earlier.turn === later.turn;
      if (areParallel || earlier.name === later.name) return [];
      return {
        what: `calling \`${later.name}\` before \`${earlier.name}\``,
        make: () => {
          const [first, second] = [stepOf(trace, earlier), stepOf(trace, later)];
          return withSteps(
            trace,
            trace.steps.map((step) => {
              if (step === first) return second;
              if (step === second) return first;
              return step;
            }),
          );
        },
        advice: [{ layer: 'path', key: 'expected_tool_sequence', value: names }, allCalls(calls)],
      };
    });
  },
});
