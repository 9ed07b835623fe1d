import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunnerConfig } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { createRunner } from './create-runner.ts';
import { startServer } from './http-server.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

const SERVER = `
const { createServer } = require('node:http');
createServer((request, response) => {
  if (request.url === '/die') process.exit(5);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ answer: process.env.WHO + ' ' + request.url }));
}).listen(Number(process.argv[2]), '127.0.0.1');`;

async function configOf(path = '/ask', code = SERVER) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const dir = tempDir({ 'server.cjs': code });
  const config = {
    kind: 'http',
    env: { WHO: 'me' },
    http: {
      url: `${base}${path}`,
      method: 'POST',
      headers: {},
      start: { command: [process.execPath, 'server.cjs', String(port)], ready: `${base}/health` },
    },
  } satisfies Extract<RunnerConfig, { kind: 'http' }>;
  return { config, base, dir, around: { dir, env: process.env, timeoutMs: 3000, workers: 1 } };
}
const request = () => ({ query: 'q', id: 'q', run: 1, signal: AbortSignal.timeout(3000) });

test('starts the server, asks it, and stops it', async () => {
  const { config, base, around } = await configOf();
  const runner = await createRunner(config, around);
  expect(await runner.run(request())).toMatchObject({ value: '{"answer":"me /ask"}' });
  await runner.close();
  await expect(fetch(base)).rejects.toThrow();
});

test('something that answers already is not the server', async () => {
  const { config, around } = await configOf();
  const other = createServer((_, response) => response.end('hi'));
  await new Promise<void>((resolve) => {
    other.listen(Number(new URL(config.http.url).port), '127.0.0.1', resolve);
  });
  try {
    await expect(createRunner(config, around)).rejects.toMatchObject({
      code: 'PORT_TAKEN',
    });
  } finally {
    other.close();
  }
});

test('a server that ends before it is ready says why', async () => {
  const { config, around } = await configOf(
    '/ask',
    'console.error("no database"); process.exit(2)',
  );
  await expect(createRunner(config, around)).rejects.toMatchObject({
    code: 'RUNNER_NOT_READY',
    message: expect.stringMatching(/exited with code 2 before .* answered: no database/),
  });
});

test('a server that never is ready is given up, and stopped', async () => {
  const { config, dir } = await configOf(
    '/ask',
    'console.error("warming up"); setInterval(() => {}, 1000)',
  );
  await expect(
    startServer(config.http.start, { dir, env: process.env, readyMs: 400 }),
  ).rejects.toMatchObject({
    code: 'RUNNER_NOT_READY',
    message: expect.stringMatching(/did not answer within 0.4 s.*warming up/),
  });
});

test('a program that is not there', async () => {
  const { config, dir } = await configOf();
  const start = { ...config.http.start, command: ['no-such-program'] };
  await expect(startServer(start, { dir, env: process.env })).rejects.toMatchObject({
    code: 'RUNNER_NOT_READY',
  });
});

test.each([5, 0])(
  'a server that ends with code %i after its last answer: the fault is of that query',
  async (code) => {
    const dies = SERVER.replace("if (request.url === '/die') process.exit(5);", '').replace(
      'response.end(',
      `if (request.url === '/ask') setTimeout(() => process.exit(${code}), 10); response.end(`,
    );
    const { config, around } = await configOf('/ask', dies);
    const voids: string[] = [];
    const runner = await createRunner(config, {
      ...around,
      onVoid: ({ id }, why) => voids.push(`${id}: ${why}`),
    });
    await runner.run(request());
    while (await fetch(config.http.url).then(Boolean, () => false)) await sleep(10);
    // The exit event arrives shortly after the port is closed.
    await sleep(100);
    await runner.close();
    expect(voids).toEqual([
      expect.stringMatching(
        new RegExp(`^q: the server .* exited with code ${code} after its last`),
      ),
    ]);
  },
);

test('a server that is stopped at the end has no fault', async () => {
  const { config, around } = await configOf();
  const voids: string[] = [];
  const runner = await createRunner(config, { ...around, onVoid: (_, why) => voids.push(why) });
  await runner.run(request());
  await runner.close();
  expect(voids).toEqual([]);
});

test('a server that dies in the middle of a run is named in the error of each query after it', async () => {
  const { config, around } = await configOf('/die');
  const runner = await createRunner(config, around);
  for (let n = 0; n < 2; n++)
    await expect(runner.run(request())).rejects.toMatchObject({
      name: 'AgentError',
      kind: 'agent',
      message: expect.stringMatching(/the server .* exited with code 5/),
    });
  await runner.close();
});
