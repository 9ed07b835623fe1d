import { toolCalls } from '../../trace/selectors.ts';
import { nameOfCall, stepOf } from '../calls.ts';
import { withoutStep } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';
import { yamlValue } from '../yaml-words.ts';

export const operator = defineOperator({
  name: 'drop-call',
  layer: 'path',
  summary: 'one tool call is left out',
  sites: (trace) => {
    const calls = toolCalls(trace);
    const names = calls.map(({ name }) => name);
    return calls.map((call, i) => {
      const isOnly = names.filter((name) => name === call.name).length === 1;
      return {
        what: `dropping ${nameOfCall(names, i)}`,
        make: () => withoutStep(trace, stepOf(trace, call)),
        advice: isOnly
          ? { layer: 'path', key: 'expected_tools', yaml: `expected_tools: ${yamlValue([call.name])}` }
          : { layer: 'path', key: 'expected_tool_sequence', yaml: `expected_tool_sequence: ${yamlValue(names)}` },
      };
    });
  },
});
