import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const files = {
  'agentci_spec.yaml':
    'version: 1\nagent: demo\nqueries:\n  - {id: a, query: "say \\"hi\\"", correctness: {expected_in_answer: [ok]}}\n  - {id: b, query: q2, correctness: {expected_in_answer: [ok]}}\n',
  'traces.jsonl':
    '{"id":"a","query":"x","answer":"ok","latency_ms":12}\n{"id":"b","query":"q2","answer":"no"}\n',
};

async function runOnce(): Promise<string> {
  const cwd = tempDir(files);
  expect((await cli(['test', '--traces', 'traces.jsonl'], { cwd })).code).toBe(1);
  return cwd;
}

async function receiver(status = 200) {
  const requests: {
    method: string | undefined;
    url: string | undefined;
    type: string | undefined;
    body: string;
  }[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    requests.push({
      method: incoming.method,
      url: incoming.url,
      type: incoming.headers['content-type'],
      body,
    });
    response.writeHead(status).end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test('the newest run goes to stdout or a file, as the reporter writes it', async () => {
  const cwd = await runOnce();
  const { code, stdout } = await cli(['export-metrics'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('agentci_correctness_pass{agent="demo",query_id="b",query="q2"} 0\n');
  await cli(['export-metrics', '-o', 'agentci.prom'], { cwd });
  expect(readFileSync(join(cwd, 'agentci.prom'), 'utf8')).toBe(stdout);
});

test('a Pushgateway gets the text under job and agent', async () => {
  const { url, requests } = await receiver();
  const { code } = await cli(['export-metrics', '--pushgateway', `${url}/`, '--job', 'nightly'], {
    cwd: await runOnce(),
  });
  expect(code).toBe(0);
  expect(requests).toMatchObject([
    {
      method: 'PUT',
      url: '/metrics/job/nightly/agent/demo',
      body: expect.stringContaining('# TYPE agentci_exit_code gauge'),
    },
  ]);
});

test('OTLP gets one gauge a metric with its labels as attributes', async () => {
  const { url, requests } = await receiver();
  await cli(['export-metrics', '--otlp', `${url}/v1/metrics`], { cwd: await runOnce() });
  const body = JSON.parse(requests[0]!.body) as {
    resourceMetrics: {
      scopeMetrics: { metrics: { name: string; gauge: { dataPoints: object[] } }[] }[];
    }[];
  };
  const { metrics } = body.resourceMetrics[0]!.scopeMetrics[0]!;
  const passes = metrics.find(({ name }) => name === 'agentci_correctness_pass');
  expect(passes?.gauge.dataPoints).toMatchObject([
    {
      asDouble: 1,
      attributes: expect.arrayContaining([{ key: 'query', value: { stringValue: 'say "hi"' } }]),
    },
    { asDouble: 0 },
  ]);
  expect(metrics.find(({ name }) => name === 'agentci_latency_ms')?.gauge.dataPoints).toHaveLength(
    1,
  );
});

test.each([
  { what: 'a server that refuses', args: async () => ['--otlp', (await receiver(500)).url] },
  { what: 'a server that is not there', args: async () => ['--pushgateway', 'http://127.0.0.1:1'] },
])('reports $what with exit 2', async ({ args }) => {
  const { code, stderr } = await cli(['export-metrics', ...(await args())], {
    cwd: await runOnce(),
  });
  expect(code).toBe(2);
  expect(stderr).toContain('EXPORT_FAILED');
});

test('nothing stored: exit 2 with the way out', async () => {
  const { code, stderr } = await cli(['export-metrics'], { cwd: tempDir(files) });
  expect(code).toBe(2);
  expect(stderr).toContain('agentci test');
});
