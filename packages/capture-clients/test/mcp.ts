import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI } from '@agentci/testing/cli';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
export const SERVER = join(here, '..', 'agents', 'mcp-server.mjs');

/** Puts the program before a server of the real SDK: `['guard', '--policy', 'p.yaml']`. */
export const before = (args: readonly string[], ...server: readonly string[]): string[] => [
  CLI,
  ...args,
  '--',
  process.execPath,
  SERVER,
  ...server,
];

/** A client of the real SDK, connected to the server started by this command. */
export async function connect(
  args: readonly string[],
  {
    cwd,
    env = {},
    version,
  }: { cwd: string; env?: Record<string, string>; version?: string | undefined },
): Promise<Client & { readonly stderr: () => string }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  if (version !== undefined) {
    // The SDK's client always requests its newest version.
    const send = transport.send.bind(transport);
    transport.send = (message) =>
      send(
        'method' in message && message.method === 'initialize'
          ? { ...message, params: { ...message.params, protocolVersion: version } }
          : message,
      );
  }
  const client = makeClient();
  await client.connect(transport);
  onTestFinished(() => client.close());
  return Object.assign(client, { stderr: () => stderr });
}

export const makeClient = (): Client =>
  new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { roots: {}, sampling: {}, elicitation: {} } },
  );

export const textOf = (result: unknown): string =>
  (result as { content: { text?: string }[] }).content.map(({ text = '' }) => text).join('');

/** Timeout for requests without an answer. */
const MOMENT_MS = 10_000;

/** Sends these bytes to a command, closes its input after all answers, and returns its output. */
export function talk(
  args: readonly string[],
  input: readonly (string | Buffer)[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<{
  code: number | null;
  stdout: Buffer;
  stderr: string;
  messages: Record<string, unknown>[];
}> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], { cwd, env: { ...process.env, ...env } });
    const chunks: Buffer[] = [];
    let stderr = '';
    const end = (): void => {
      clearTimeout(moment);
      child.stdin.end();
    };
    const moment = setTimeout(end, MOMENT_MS);
    const asked = idsOf(Buffer.concat(input.map((piece) => Buffer.from(piece))), true);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const answered = new Set(idsOf(Buffer.concat(chunks), false));
      if (asked.every((id) => answered.has(id))) end();
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.stdin.on('error', () => {});
    child.on('close', (code) => {
      clearTimeout(moment);
      const stdout = Buffer.concat(chunks);
      const lines = stdout.toString('utf8').split('\n').filter(Boolean);
      resolve({ code, stdout, stderr, messages: lines.map((line) => JSON.parse(line)) });
    });
    for (const piece of input) child.stdin.write(piece);
  });
}

/** The ids of requests, or of answers, in the complete lines. */
const idsOf = (bytes: Buffer, areRequests: boolean): unknown[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        const message = JSON.parse(line) as Record<string, unknown>;
        return message.id !== undefined && 'method' in message === areRequests ? [message.id] : [];
      } catch {
        return [];
      }
    });

const HELLO = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  },
};
export const lineOf = (message: unknown): string => `${JSON.stringify(message)}\n`;
export const hello = (version = '2025-11-25'): string =>
  lineOf({ ...HELLO, params: { ...HELLO.params, protocolVersion: version } }) +
  lineOf({ jsonrpc: '2.0', method: 'notifications/initialized' });
export const callLine = (id: unknown, name: string, args: unknown = {}): string =>
  lineOf({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
