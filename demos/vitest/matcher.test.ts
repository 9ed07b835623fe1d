import { expect, test } from 'vitest';
import '@agentci/agentci/vitest';
import desk from './agent.ts';

const spec = new URL('./agentci_spec.yaml', import.meta.url);

test('our run passes a query of the spec', async () => {
  await expect(await desk('Please refund ord_2')).toPassSpec('refund-small', { spec });
});

test('a desk that refunds what a person should decide does not', async () => {
  const careless = {
    answer: 'A person? No need.',
    tool_calls: [{ name: 'refund', args: { order: 'ord_3' } }],
  };
  await expect(careless).not.toPassSpec('refund-large', { spec });
});
