import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { before, connect, lineOf, makeClient, SERVER, textOf } from './mcp.ts';

// Unsolicited server messages, recorded from and replayed to clients of the SDK.

type Client = ReturnType<typeof makeClient>;

const RECORD = ['tap', '--cassette', 'record=tape.jsonl'];
const REPLAY = ['tap', '--cassette', 'replay=tape.jsonl'];

const slow = async (client: Client): Promise<number[]> => {
  const told: number[] = [];
  const result = await client.callTool({ name: 'slow', arguments: { ms: 90 } }, undefined, {
    onprogress: ({ progress }) => told.push(progress),
  });
  expect(textOf(result)).toBe('done');
  return told;
};

/** Starts a tap over HTTP and returns its address. */
async function serve(args: readonly string[], cwd: string) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  const url = await new Promise<string>((resolve) => {
    const read = (chunk: Buffer): void => {
      said += chunk;
      const found = /serving (http\S+)/.exec(said)?.[1] ?? /^(\d+)\n/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
    return said;
  };
  return { url, stop };
}

async function reach(url: string): Promise<Client> {
  const client = makeClient();
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  onTestFinished(() => client.close());
  return client;
}

test('progress reaches a client on standard input and output in replay', async () => {
  const cwd = tempDir();
  const recorded = await connect(before(RECORD), { cwd });
  await slow(recorded);
  await recorded.close();
  const replayed = await connect([CLI, ...REPLAY], { cwd });
  // An extra request first, so that the token differs.
  await replayed.ping();
  expect(await slow(replayed)).toEqual([1, 2, 3]);
});

test('progress reaches a client over HTTP in replay', async () => {
  const cwd = tempDir();
  const server = await serve([SERVER, '--http'], cwd);
  const tap = await serve([CLI, ...RECORD, '--url', `http://127.0.0.1:${server.url}/mcp`], cwd);
  const client = await reach(tap.url);
  await slow(client);
  await client.close();
  expect(await tap.stop()).toContain('recorded to');
  const replay = await serve([CLI, ...REPLAY, '--listen', '127.0.0.1:0'], cwd);
  const again = await reach(replay.url);
  await again.ping();
  expect(await slow(again)).toEqual([1, 2, 3]);
});

test('a notification outside of a request reaches a client over HTTP by its stream', async () => {
  const line = (dir: string, message: object): string =>
    lineOf({ ts: '', dir, message: { jsonrpc: '2.0', ...message } });
  const capabilities = { resources: { subscribe: true } };
  const serverInfo = { name: 's', version: '1' };
  const cwd = tempDir({
    'tape.jsonl':
      line('c2s', { id: 0, method: 'initialize', params: {} }) +
      line('s2c', { id: 0, result: { protocolVersion: '2025-06-18', capabilities, serverInfo } }) +
      line('c2s', { id: 1, method: 'resources/subscribe', params: { uri: 'r://1' } }) +
      line('s2c', { id: 1, result: {} }) +
      line('s2c', { method: 'notifications/resources/updated', params: { uri: 'r://1' } }),
  });
  const { url } = await serve([CLI, ...REPLAY, '--listen', '127.0.0.1:0'], cwd);
  const client = makeClient();
  const updated = new Promise<string>((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
      resolve(params.uri),
    );
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  onTestFinished(() => client.close());
  await client.subscribeResource({ uri: 'r://1' });
  expect(await updated).toBe('r://1');
});

test('what the server asks of the client is left out of a replay, and both the recording and the replay say so', async () => {
  const cwd = tempDir();
  const ask = async (args: readonly string[]) => {
    const client = await connect(args, { cwd });
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }));
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      ...{ model: 'm', role: 'assistant' as const },
      content: { type: 'text' as const, text: 'hi' },
    }));
    const text = textOf(await client.callTool({ name: 'ask', arguments: {} }));
    await client.close();
    return { text, said: client.stderr() };
  };
  const recorded = await ask(before(RECORD));
  const names =
    '3 messages that the server sent unasked (1 roots/list, 1 sampling/createMessage, 1 elicitation/create)';
  expect(recorded.said).toContain(names);
  expect(recorded.said).toContain('MCP_CASSETTE_LEFT_OUT');
  const replayed = await ask([CLI, ...REPLAY]);
  expect(replayed.text).toBe(recorded.text);
  expect(replayed.said).toContain(`${names} when this was recorded were not sent`);
  expect(replayed.said).toContain('MCP_CASSETTE_LEFT_OUT');
});
