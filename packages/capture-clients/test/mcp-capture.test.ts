import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Exchange } from '@agentci/capture';
import { readEvidence } from '@agentci/capture';
import { cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { toolCalls } from '@agentci/trace';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SERVER } from './mcp.ts';

const AGENT = fileURLToPath(new URL('../agents/mcp-agent.mjs', import.meta.url));
const office = { command: process.execPath, args: [SERVER] };

async function httpServer(): Promise<string> {
  const child = spawn(process.execPath, [SERVER, '--http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim())),
  );
  return `http://127.0.0.1:${port}/mcp`;
}

describe('the MCP servers of an agent', () => {
  test('are seen by a capture, started or by HTTP, with what became of every call', async () => {
    const config = { mcpServers: { office, far: { type: 'http', url: await httpServer() } } };
    const cwd = tempDir({ '.mcp.json': config });
    const args = [
      'capture',
      '--out',
      'seen',
      '--planes',
      'mcp',
      '--mcp-config',
      '.mcp.json',
      '--',
      process.execPath,
      AGENT,
      '.mcp.json',
    ];
    const { code, stderr, stdout } = await cliProcess(args, { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('search ×2')]);
    expect(stdout).toBe('search:{"server":"office"}; search:{"server":"far"}');
    expect(readdirSync(join(cwd, 'seen')).sort()).toEqual([
      'capture.json',
      'exchanges.jsonl',
      'mcp-far.jsonl',
      'mcp-office.jsonl',
      'traces.jsonl',
    ]);
    const trace = JSON.parse(readFileSync(join(cwd, 'seen', 'traces.jsonl'), 'utf8'));
    expect(toolCalls(trace)).toMatchObject([
      {
        name: 'search',
        server: 'office',
        args: { server: 'office' },
        status: 'ok',
        evidence: ['mcp'],
      },
      { name: 'fail', server: 'office', status: 'error' },
      { name: 'search', server: 'far', status: 'ok' },
      { name: 'fail', server: 'far', status: 'error' },
    ]);
    // Other tools of the agent were not captured.
    expect(trace.captured.toolCalls).toBe('partial');
    expect(JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'))).toEqual(config);
  });

  test('give a query its tool calls', async () => {
    const spec = {
      agent: 'a',
      runner: {
        command: [process.execPath, AGENT, '.mcp.json'],
        capture: ['mcp'],
        mcp_config: '.mcp.json',
      },
      queries: [
        {
          query: 'go',
          correctness: { expected_in_answer: ['office'] },
          path: { forbidden_tools: ['search'] },
        },
      ],
    };
    const cwd = tempDir({ '.mcp.json': { mcpServers: { office } }, 'agentci_spec.yaml': spec });
    const { code, stdout } = await cliProcess(['test', '-f', 'json'], { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).results[0].path.details.forbidden_tools.violations).toEqual([
      'search',
    ]);
  });

  test.each([
    ['is not there', {}, 'does not exist'],
    ['lists no servers', { '.mcp.json': '{}' }, 'has no "mcpServers"'],
  ])('reports a configuration that %s', async (_, files, why) => {
    const args = [
      'capture',
      '--out',
      'seen',
      '--mcp-config',
      '.mcp.json',
      '--',
      process.execPath,
      '-e',
      '0',
    ];
    const { code, stderr } = await cliProcess(args, { cwd: tempDir(files) });
    expect(code).toBe(2);
    expect(stderr).toContain('FILE_UNREADABLE');
    expect(stderr).toContain(why);
  });
});

describe('what a model asked for and what a tap saw', () => {
  const reply = (content: object): Exchange =>
    ({
      i: 0,
      at: 1000,
      route: 'chat',
      provider: 'openai',
      uri: 'https://api.openai.com/v1/chat/completions',
      method: 'POST',
      request: Buffer.from(
        JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'go' }] }),
      ),
      requestHeaders: { 'content-type': 'application/json' },
      status: 200,
      headers: { 'content-type': 'application/json' },
      chunks: [
        [
          1,
          Buffer.from(
            JSON.stringify({
              id: 'r1',
              object: 'chat.completion',
              model: 'gpt-5',
              choices: [{ index: 0, finish_reason: 'tool_calls', message: content }],
            }),
          ),
        ],
      ],
      ttfbMs: 1,
      endMs: 2,
      complete: true,
    }) as unknown as Exchange;
  const call = (id: string, n: number) => ({
    id,
    type: 'function',
    function: { name: 'mcp__office__search', arguments: JSON.stringify({ n }) },
  });

  test('are one call each, by name and arguments', () => {
    const exchange = reply({
      role: 'assistant',
      content: null,
      tool_calls: [call('c1', 1), call('c2', 2)],
    });
    const line = (ts: number, dir: 'c2s' | 's2c', message: object) => ({
      ts: new Date(ts).toISOString(),
      dir,
      message,
    });
    const asked = (id: number, n: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'search', arguments: { n } },
    });
    const lines = [
      line(2000, 'c2s', asked(1, 2)),
      line(2001, 'c2s', asked(2, 1)),
      line(2002, 's2c', {
        jsonrpc: '2.0',
        id: 1,
        result: { isError: true, content: [{ type: 'text', text: 'no' }] },
      }),
      line(2003, 's2c', {
        jsonrpc: '2.0',
        id: 2,
        result: { content: [{ type: 'text', text: 'yes' }] },
      }),
    ];
    const { trace } = readEvidence(
      {
        exchanges: [exchange],
        telemetry: [],
        gaps: [],
        notes: [],
        mcp: [{ server: 'office', lines }],
      },
      'run',
    );
    expect(
      toolCalls(trace!).map(({ callId, args, status, server }) => ({
        callId,
        args,
        status,
        server,
      })),
    ).toEqual(
      expect.arrayContaining([
        { callId: 'c1', args: { n: 1 }, status: 'ok', server: 'office' },
        { callId: 'c2', args: { n: 2 }, status: 'error', server: 'office' },
      ]),
    );
    expect(toolCalls(trace!)).toHaveLength(2);
  });
});
