/**
 * The normal form of an agent's name. Spans, tools and providers write one name in their own ways: `Orders agent`,
 * `Orders_agent`, `OrdersAgent` and the `orders` of `transfer_to_orders` are one agent.
 */
export function agentKey(name: string): string {
  const key = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  return key.length > 'agent'.length ? key.replace(/agent$/, '') : key;
}
