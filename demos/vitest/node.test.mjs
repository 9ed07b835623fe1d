import { test } from 'node:test';
import { describeSpec, expect } from '@agentci/agentci/node-test';

const spec = new URL('./agentci_spec.yaml', import.meta.url);

describeSpec(spec);

test('a recording passes a query of the spec', async () => {
  await expect({ answer: 'Which number has it?', tool_calls: [] }).toPassSpec('no-number', {
    spec,
  });
});
