import { compileGlob } from '@agentci/lib/regex';
import { toolCalls } from '@agentci/trace';
import { textsIn } from '../answer-words.ts';
import { freshId, insertCall } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';

/** More would be redundant. */
const MAX_TOOLS = 10;

export const operator = defineOperator({
  name: 'extra-call',
  layer: 'path',
  summary: 'a tool of another query, or one that a policy names, is called as well',
  sites: (trace, { otherTools, otherArguments }) =>
    otherTools.slice(0, MAX_TOOLS).map((name) => ({
      what: `a call of \`${name}\` that the good run does not make`,
      make: () => {
        const last = toolCalls(trace).at(-1);
        const after = trace.steps.find(({ id }) => id === last?.id);
        return insertCall(trace, after, {
          kind: 'tool',
          id: freshId(trace, 'extra-call'),
          seq: 0,
          name,
          args: { ...otherArguments?.get(name) },
          result: 'ok',
          status: 'ok',
          by: 'client',
          evidence: ['message'],
          agent: last?.agent === undefined ? undefined : last.agent,
        });
      },
      advice: [
        {
          layer: 'path',
          key: 'forbidden_tools',
          value: [name],
          isAbout: (written) => textsIn(written).some((pattern) => compileGlob(pattern)(name)),
        },
        { layer: 'path', key: 'max_tool_calls', value: toolCalls(trace).length },
      ],
    })),
});
