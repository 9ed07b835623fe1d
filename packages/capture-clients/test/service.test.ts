import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, it, onTestFinished } from 'vitest';

// A service with the real SDK and exporters, queried by four concurrent workers: every query gets
// its own calls.

const run = fileURLToPath(new URL('../run.mjs', import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startService(exporter: string, spansPort: number): Promise<number> {
  const env = {
    PATH: process.env.PATH,
    // As in the warning and the guide.
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${exporter === 'http' ? 'localhost' : '127.0.0.1'}:${spansPort}`,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  };
  const child = spawn(process.execPath, [run, 'service.ts', exporter], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(line.toString());
}

it.each([['http'], ['proto'], ['grpc']])(
  'spans over %s',
  async (exporter) => {
    const spansPort = await freePort();
    const port = await startService(exporter, spansPort);
    const lists = Array.from({ length: 12 }, (_, i) =>
      Array.from({ length: 1 + (i % 3) }, (__, k) => `tool_${i}_${k}`),
    );
    const queries = lists.map((tools, i) => ({
      id: `q${i}`,
      query: tools.join(', '),
      correctness: { expected_in_answer: [tools[0]!] },
      path: {
        expected_tool_sequence: tools,
        max_tool_calls: tools.length,
        forbidden_tools: ['refund'],
      },
      cost: { max_llm_calls: tools.length, max_total_tokens: 12 * tools.length },
    }));
    const runner = {
      http: { url: `http://127.0.0.1:${port}/`, answer: '/answer' },
      capture: { otlp: `127.0.0.1:${spansPort}` },
    };
    const cwd = tempDir({
      'agentci_spec.yaml': JSON.stringify({ agent: 'shop', runner, queries }),
    });
    const { code, stdout } = await cliProcess(['test', '-f', 'json', '-w', '4'], { cwd });
    const { results } = JSON.parse(stdout) as {
      results: { warnings: unknown[]; path: unknown; cost: unknown }[];
    };
    expect(code).toBe(0);
    expect(results).toHaveLength(lists.length);
    for (const [i, result] of results.entries())
      expect(result).toMatchObject({
        warnings: [],
        path: { status: 'pass', details: { tool_calls: { actual: lists[i]!.length } } },
        cost: {
          details: { actual: { llm_calls: lists[i]!.length, total_tokens: 12 * lists[i]!.length } },
        },
      });
  },
  60_000,
);
