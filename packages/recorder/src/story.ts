import type { ScriptedReply } from '@agentci/scripted-model';

/**
 * The story recorded with every SDK: an order is looked up, its refund fails, the answer says so.
 */
export const MODEL = 'gpt-5-mini';
export const QUESTION = 'Please refund order A-17.';
export const INSTRUCTIONS = 'You are a support agent. Look an order up before you refund it.';
export const ANSWER =
  'Order A-17 cost 42, which is above what I may refund. A colleague will write to you.';

const orderId = { type: 'string', description: 'The number of the order' } as const;

/** The tools as JSON Schema, which every SDK wraps differently. */
export const TOOLS = [
  {
    name: 'get_order',
    description: 'Looks an order up',
    parameters: {
      type: 'object',
      properties: { order_id: orderId },
      required: ['order_id'],
      additionalProperties: false,
    },
  },
  {
    name: 'refund',
    description: 'Pays an order back',
    parameters: {
      type: 'object',
      properties: { order_id: orderId, amount: { type: 'number' } },
      required: ['order_id', 'amount'],
      additionalProperties: false,
    },
  },
] as const;

/** Runs a tool. The refund always throws, like real tools do. */
export function callTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (name === 'get_order') return { order_id: args.order_id, total: 42, status: 'delivered' };
  throw new Error('the refund limit is 40');
}

/** The result of a tool call in a hand-written loop: its text, and whether it failed. */
export function tryTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
): { text: string; isError: boolean } {
  try {
    return { text: JSON.stringify(callTool(name, args)), isError: false };
  } catch (error) {
    return { text: `Error: ${(error as Error).message}`, isError: true };
  }
}

/** The model's replies, call by call. */
export const REPLIES: readonly ScriptedReply[] = [
  {
    toolCalls: [{ name: 'get_order', args: { order_id: 'A-17' } }],
    usage: { input: 120, output: 18 },
  },
  {
    toolCalls: [{ name: 'refund', args: { order_id: 'A-17', amount: 42 } }],
    usage: { input: 150, output: 22 },
  },
  { text: ANSWER, usage: { input: 190, output: 24 } },
];

/** The same with two agents: one hands the customer over before the first call. */
export const repliesWithHandoff = (transferTool: string): readonly ScriptedReply[] => [
  { toolCalls: [{ name: transferTool, args: {} }], usage: { input: 90, output: 12 } },
  ...REPLIES,
];
