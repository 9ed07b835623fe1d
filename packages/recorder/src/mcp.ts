import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { asJson, asLines, type Recording } from './recording.ts';
import { callTool } from './story.ts';

interface Tapped {
  readonly ts: number;
  readonly dir: 'c2s' | 's2c';
  readonly message: JSONRPCMessage;
}

function supportServer(): McpServer {
  const server = new McpServer({ name: 'support', version: '1.0.0' });
  const orderId = z.string().describe('The number of the order');
  const answer = (name: string) => async (args: Record<string, unknown>) => {
    const structuredContent = callTool(name, args);
    return {
      structuredContent,
      content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }],
    };
  };
  server.registerTool(
    'get_order',
    { description: 'Looks an order up', inputSchema: { order_id: orderId } },
    answer('get_order'),
  );
  server.registerTool(
    'refund',
    { description: 'Pays an order back', inputSchema: { order_id: orderId, amount: z.number() } },
    answer('refund'),
  );
  return server;
}

/**
 * An SDK client and server with a tap between them: a successful call, a failing one, and an
 * unknown tool.
 */
export async function record(): Promise<Recording> {
  const tapped: Tapped[] = [];
  const [near, far] = InMemoryTransport.createLinkedPair();
  tap(near, 'c2s', tapped);
  tap(far, 's2c', tapped);
  const server = supportServer();
  const client = new Client({ name: 'recorder', version: '1.0.0' });
  await server.connect(far);
  await client.connect(near);
  await client.listTools();
  await client.callTool({ name: 'get_order', arguments: { order_id: 'A-17' } });
  await client.callTool({ name: 'refund', arguments: { order_id: 'A-17', amount: 42 } });
  await client.callTool({ name: 'cancel_order', arguments: { order_id: 'A-17' } });
  await client.close();
  await server.close();
  return {
    'tap.jsonl': asLines(tapped),
    'messages.json': asJson(tapped.map(({ message }) => message)),
  };
}

/** Records messages with timestamps 100 milliseconds apart. */
function tap(transport: InMemoryTransport, dir: Tapped['dir'], into: Tapped[]): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    into.push({ ts: Date.UTC(2026, 0, 5, 9) + into.length * 100, dir, message });
    await send(message, options);
  };
}
