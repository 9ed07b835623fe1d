import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RunStore } from '@agentci/run';
import { runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { ioOf } from '../../../test/support/io.ts';
import { runsRoot } from '../../stored-runs/spec-folders.ts';
import { command } from './export-metrics.ts';

function stored() {
  const cwd = tempDir();
  for (const [run_id, agent] of [
    ['r1', 'first'],
    ['r2', 'a/b'],
    ['r3', 'third'],
  ] as const) {
    const store = RunStore.create(runsRoot(cwd), {
      run_id,
      agent,
      spec: { file: 's', hash: 'h' },
      started_at: '',
    });
    const timed = { started_at: '2026-01-01T00:00:00.000Z', duration_ms: 1000 };
    if (run_id === 'r3') store.close();
    else
      store.finish(runOf([{ id: 'q', status: 'pass', query: 'two\nlines' }], { agent, ...timed }));
  }
  return cwd;
}
async function receiver() {
  const requests: { url: string | undefined; body: string }[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    requests.push({ url: incoming.url, body });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test.each([
  { what: 'the newest that is finished', options: {}, agent: 'a/b' },
  { what: 'the one that is named', options: { run: 'r1' }, agent: 'first' },
])('of several runs $what is exported', async ({ options, agent }) => {
  const { io, written } = ioOf(stored());
  expect(await command.run({ args: [], options: { job: 'agentci', ...options }, io })).toBe(0);
  expect(written.stdout).toContain(`agentci_exit_code{agent="${agent}"}`);
});

test('a name with a slash is one part of the address, and nothing else is printed', async () => {
  const { url, requests } = await receiver();
  const { io, written } = ioOf(stored());
  await command.run({ args: [], options: { job: 'night/ly', pushgateway: url }, io });
  expect(requests[0]?.url).toBe('/metrics/job/night%2Fly/agent/a%2Fb');
  expect(written).toEqual({ stdout: '', stderr: expect.stringMatching(/^agentci: sent to /) });
});

test('OTLP says whose numbers they are, what they mean, and when the run ended', async () => {
  const { url, requests } = await receiver();
  await command.run({ args: [], options: { job: 'agentci', otlp: url }, io: ioOf(stored()).io });
  const [{ resource, scopeMetrics }] = JSON.parse(requests[0]!.body).resourceMetrics;
  expect(resource).toEqual({
    attributes: [{ key: 'service.name', value: { stringValue: 'a/b' } }],
  });
  const exit = scopeMetrics[0].metrics.find(
    ({ name }: { name: string }) => name === 'agentci_exit_code',
  );
  expect(exit).toMatchObject({
    description: 'Exit code of the run: 0 nothing failed, 1 a check failed, 2 could not tell.',
    gauge: { dataPoints: [{ timeUnixNano: '1767225601000000000', asDouble: 2 }] },
  });
});

test('a redirect is an error that names its target, and nothing is sent there', async () => {
  const { url: other, requests } = await receiver();
  const server = createServer((_, response) =>
    response.writeHead(307, { location: `${other}/x?key=1` }).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const otlp = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(
    command.run({ args: [], options: { job: 'agentci', otlp }, io: ioOf(stored()).io }),
  ).rejects.toMatchObject({
    message: expect.stringContaining(`a redirect to ${other}/x, which is not followed`),
  });
  expect(requests).toEqual([]);
});
