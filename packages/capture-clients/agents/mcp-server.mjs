// A test server with the real SDK over stdio, or over HTTP with --http.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: value }] });

function makeServer() {
  const server = new McpServer(
    { name: 'office', version: '1.0.0' },
    { capabilities: { logging: {} } },
  );
  const any = { inputSchema: z.object({}).loose() };
  for (const name of (process.env.TOOLS ?? 'read_inbox,send_email,search,authenticate').split(','))
    server.registerTool(name, { description: name, ...any }, async (args) =>
      text(`${name}:${JSON.stringify(args)}`),
    );
  server.registerTool('fail', { description: 'fails', ...any }, async () => {
    throw new Error('it failed');
  });
  server.registerTool(
    'big',
    { description: 'a long answer', inputSchema: { size: z.number() } },
    async ({ size }) => text('x'.repeat(size)),
  );
  server.registerTool(
    'slow',
    { description: 'takes its time', inputSchema: { ms: z.number() } },
    async ({ ms }, extra) => {
      const token = extra._meta?.progressToken;
      for (let i = 1; i <= 3; i++) {
        await new Promise((resolve) => setTimeout(resolve, ms / 3));
        if (token !== undefined)
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken: token, progress: i, total: 3 },
          });
      }
      return text(extra.signal.aborted ? 'cancelled' : 'done');
    },
  );
  server.registerTool('ask', { description: 'asks the client', ...any }, async () => {
    const roots = await server.server.listRoots();
    const sampled = await server.server.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
      maxTokens: 10,
    });
    const asked = await server.server.elicitInput({
      message: 'your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    });
    return text(
      JSON.stringify({
        roots: roots.roots.length,
        sampled: sampled.content.text,
        asked: asked.content,
      }),
    );
  });
  return server;
}

if (process.argv.includes('--http')) {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = transports.get(id);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: process.argv.includes('--json'),
        onsessioninitialized: (session) => transports.set(session, transport),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
} else {
  if (process.argv.includes('--stubborn')) {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
    setInterval(() => {}, 1000);
  }
  await makeServer().connect(new StdioServerTransport());
}
