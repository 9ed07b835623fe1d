import { request } from 'node:http';
import { join } from 'node:path';
import type { PageRun, PageRunUpdate } from '@agentci/results';
import { RunStore } from '@agentci/run';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RunLibrary } from './run-library.ts';
import { startViewServer } from './server.ts';

const header = (id: string) => ({
  run_id: id,
  agent: 'demo',
  spec: { file: 'agentci_spec.yaml', hash: 'sha256:0' },
  started_at: '2026-11-15T21:40:12.345Z',
});

const resultOf = (id: string, status: 'pass' | 'fail' = 'pass') =>
  runOf([{ id, status, correctness: [checkOf('correctness.exact_match', status)] }]).results[0]!;

async function serve() {
  const cwd = tempDir();
  const root = join(cwd, '.agentci', 'runs');
  const server = await startViewServer({
    library: new RunLibrary(root, cwd),
    port: 0,
    version: '0.0.0',
  });
  onTestFinished(() => server.close());
  const get = async (
    path: string,
    options: { method?: string; host?: string; bare?: boolean } = {},
  ) => {
    const base = new URL(server.url);
    return new Promise<{ status: number; text: string; headers: Record<string, unknown> }>(
      (resolve, reject) => {
        const asked = request(
          {
            host: base.hostname,
            port: base.port,
            // Not through URL, because a path with dots must arrive unchanged.
            path: options.bare ? path : `${base.pathname}${path}`,
            method: options.method ?? 'GET',
            headers: { host: options.host ?? base.host },
          },
          (response) => {
            let text = '';
            response.on('data', (chunk) => {
              text += chunk;
            });
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
            );
          },
        );
        asked.on('error', reject);
        asked.end();
      },
    );
  };
  const json = async <T>(path: string): Promise<T> => JSON.parse((await get(path)).text) as T;
  return { root, server, get, json };
}

describe('who is let in', () => {
  test('it listens on the loopback address, under a long random name', async () => {
    const [a, b] = [await serve(), await serve()];
    expect(a.server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
    expect(new URL(a.server.url).pathname).not.toBe(new URL(b.server.url).pathname);
  });

  test.each([
    { when: 'the token is missing', path: '/', bare: true },
    { when: 'the path looks like another host', path: '//', bare: true },
    { when: 'the path is a whole address', path: 'http://evil.example/', bare: true },
    { when: 'the token is wrong', path: '/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/api/runs', bare: true },
    { when: 'only the api is named', path: '/api/runs', bare: true },
    { when: 'another host name resolves to this address', path: 'api/runs', host: 'evil.example' },
    {
      when: 'the name only begins with the address',
      path: 'api/runs',
      host: '127.0.0.1.evil.example',
    },
  ])('403 when $when', async ({ path, ...rest }) => {
    const { get } = await serve();
    const { status, text } = await get(path, rest);
    expect({ status, keys: Object.keys(JSON.parse(text) as object) }).toEqual({
      status: 403,
      keys: ['error'],
    });
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])(
    '%s is refused: the server only shows',
    async (method) => {
      const { get } = await serve();
      expect((await get('api/runs', { method })).status).toBe(405);
    },
  );

  test.each([
    'api/run/..%2f..%2f..',
    'api/run/../../../../etc/passwd',
    'api/run/%2e%2e',
    'api/run/__proto__',
    'api/run/%E0%A4%A',
    'api/compare?before=../x&after=../y',
    'api/run/x/evidence?id=__proto__',
    'api/nothing',
    'other',
  ])('%s finds nothing', async (path) => {
    const { get } = await serve();
    expect([403, 404]).toContain((await get(path)).status);
  });

  test('no answer may be framed, sniffed, stored or read by another site', async () => {
    const { get } = await serve();
    for (const path of ['', 'api/runs', 'nothing']) {
      expect((await get(path)).headers).toMatchObject({
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
      });
    }
    expect((await get('api/runs')).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('the shown run', () => {
  test('a folder without runs has an empty list and a page', async () => {
    const { get, json } = await serve();
    expect(await json('api/runs')).toEqual([]);
    expect((await get('')).text).toMatch(/^<!doctype html>[\s\S]*"live":true/i);
  });

  test('a run in progress is shown so far, then only new results', async () => {
    const { root, json } = await serve();
    const store = RunStore.create(root, header('r1'));
    store.record({ id: 'a', run: 1, result: resultOf('a') }, undefined);
    store.record({ id: 'b', run: 1, result: resultOf('b') }, undefined);
    const first = await json<PageRunUpdate>('api/run/r1?from=0');
    expect(first).toMatchObject({
      finished: false,
      entries: 2,
      partial: false,
      run: { summary: { total: 2, passed: 2 } },
    });
    expect(first.run.results.map(({ id }) => id)).toEqual(['a', 'b']);

    store.record({ id: 'b', run: 2, result: resultOf('b', 'fail') }, undefined);
    const second = await json<PageRunUpdate>('api/run/r1?from=2');
    expect(second).toMatchObject({
      entries: 3,
      partial: true,
      run: { summary: { total: 2, failed: 1 } },
    });
    expect(second.run.results).toMatchObject([{ id: 'b', status: 'fail' }]);

    const results = [resultOf('a'), resultOf('b', 'fail')];
    store.finish({
      ...runOf([]),
      run_id: 'r1',
      results,
      summary: { ...runOf([]).summary, total: 2, failed: 1, exit_code: 1 },
    });
    expect(await json('api/run/r1?from=3')).toMatchObject({
      finished: true,
      partial: false,
      run: { results: [{ id: 'a' }, { id: 'b' }] },
    });
    expect(await json<PageRun[]>('api/runs')).toMatchObject([
      { id: 'r1', finished: true, summary: { exit_code: 1 } },
    ]);
  });

  test('a line that is half written is waited for', async () => {
    const { root, json } = await serve();
    const store = RunStore.create(root, header('r1'));
    const { appendFileSync } = await import('node:fs');
    const line = `${JSON.stringify({ id: 'ä', run: 1, result: resultOf('ä') })}\n`;
    const bytes = Buffer.from(line);
    // Cuts between the two bytes of a letter.
    const cut = bytes.indexOf(0xc3) + 1;
    appendFileSync(join(root, 'r1', 'results.jsonl'), bytes.subarray(0, cut));
    expect(await json('api/run/r1')).toMatchObject({ entries: 0 });
    appendFileSync(join(root, 'r1', 'results.jsonl'), bytes.subarray(cut));
    expect(await json('api/run/r1')).toMatchObject({ entries: 1, run: { results: [{ id: 'ä' }] } });
    store.close();
  });

  test('the trace of a query is there while the run goes on', async () => {
    const { root, json, get } = await serve();
    const store = RunStore.create(root, header('r1'));
    const trace = simpleTrace({
      id: 'a',
      query: 'question of a',
      answer: 'ok',
      tool_calls: [{ name: 'lookup', args: { q: 1 } }],
    });
    store.record({ id: 'a', run: 1, result: resultOf('a') }, trace);
    expect(await json('api/run/r1/evidence?id=a')).toMatchObject({
      shown: 0,
      traces: [
        {
          tools: ['lookup'],
          steps: [{ kind: 'tool', title: 'lookup', fields: [{ label: 'arguments' }] }],
        },
      ],
    });
    expect((await get('api/run/r1/evidence?id=b')).status).toBe(404);
    store.close();
  });

  test('two finished runs are compared', async () => {
    const { root, json, get } = await serve();
    for (const [id, status] of [
      ['r1', 'pass'],
      ['r2', 'fail'],
    ] as const) {
      const store = RunStore.create(root, header(id));
      store.finish({
        ...runOf([{ id: 'a', status, correctness: [checkOf('correctness.exact_match', status)] }]),
        run_id: id,
      });
    }
    expect(await json('api/compare?before=r1&after=r2')).toMatchObject({
      run_id: 'r1',
      comparison: { flips: [{ id: 'a', before: 'pass', after: 'fail' }] },
      queries: [['a', { status: 'pass' }]],
    });
    expect((await get('api/compare?before=r1&after=r3')).status).toBe(404);
  });
});
