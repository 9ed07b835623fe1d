import { simpleTrace, toolCalls } from '@agentci/trace';
import { expect, test } from 'vitest';
import { callEvidence } from './calls.ts';

test.each([
  { calls: 3, listed: 3, more: undefined },
  { calls: 20, listed: 20, more: undefined },
  { calls: 300, listed: 20, more: 280 },
])(
  'of $calls calls $listed are listed, and the last says that there are $more more',
  ({ calls, listed, more }) => {
    const trace = simpleTrace({
      tool_calls: Array.from({ length: calls }, () => ({ name: 'search' })),
    });
    const evidence = callEvidence(toolCalls(trace), [...Array(calls).keys()]);
    expect(evidence).toHaveLength(listed);
    expect(evidence.at(-1)?.more).toBe(more);
  },
);
