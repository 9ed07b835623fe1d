// A test agent: reads its list of MCP servers from the given file, calls a tool of each, and
// answers. With MODEL_URL it first calls a model, which requests the tool.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { mcpServers } = JSON.parse(
  readFileSync(process.argv[2] ?? process.env.AGENTCI_MCP_CONFIG, 'utf8'),
);
const answers = [];
for (const [name, server] of Object.entries(mcpServers)) {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const transport =
    server.url === undefined
      ? new StdioClientTransport({
          command: server.command,
          args: server.args,
          env: { ...process.env, ...server.env },
        })
      : new StreamableHTTPClientTransport(new URL(server.url));
  await client.connect(transport);
  const { content } = await client.callTool({ name: 'search', arguments: { server: name } });
  await client.callTool({ name: 'fail', arguments: {} });
  answers.push(content[0].text);
  await client.close();
}
process.stdout.write(answers.join('; '));
