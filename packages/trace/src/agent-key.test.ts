import { expect, test } from 'vitest';
import { agentKey } from './agent-key.ts';

test.each([
  ['Orders agent', 'Orders_agent', true],
  ['OrdersAgent', 'orders', true],
  ['orders-agent', 'Orders Agent', true],
  ['Agent', 'agent', true],
  ['Orders', 'Billing', false],
  ['Orders 1', 'Orders 2', false],
])('%s and %s are one agent: %s', (a, b, isOne) => {
  expect(agentKey(a) === agentKey(b)).toBe(isOne);
});
