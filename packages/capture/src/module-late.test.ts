import type { AgentEnd } from '@agentci/run';
import { createModuleRunner } from '@agentci/run';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { createCapture } from './capture.ts';
import type { CaptureNote } from './plane.ts';

const FETCH = `const call = (model) => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model, messages: [] }) });`;
const HTTP = `import { request } from 'node:http';
const call = (model) => new Promise((done) => {
  const headers = { 'content-type': 'application/json' };
  const sent = request(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers }, (reply) =>
    reply.resume().on('end', done));
  sent.end(JSON.stringify({ model, messages: [] }));
});`;
const AGENT = `export default async (query) => {
  await call('own');
  if (query === 'at once') setTimeout(() => call('late'), 0);
  if (query === 'later') setTimeout(() => call('late'), 150);
  if (query === 'slow') await new Promise((done) => setTimeout(done, 400));
  return 'done';
};`;

test.each([
  ['fetch', 'at once', FETCH, ['own', 'late'], false],
  ['fetch', 'later', FETCH, ['own'], true],
  ['node:http', 'at once', HTTP, ['own', 'late'], false],
  ['node:http', 'later', HTTP, ['own'], true],
])(
  'a call with %s, %s after the answer of a function is not the next query’s',
  async (_, query, call, models, isTold) => {
    const upstream = await startChaos((request, response) => {
      const { model } = JSON.parse(request.body) as { model: string };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ model, choices: [{ message: { role: 'assistant', content: 'x' } }] }),
      );
    });
    onTestFinished(() => upstream.close());
    const dir = tempDir({ 'agent.mjs': `${call}\n${AGENT}` });
    const env = { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: `${upstream.url}/v1` };
    const notes: CaptureNote[] = [];
    const asked: string[][] = [];
    const capture = createCapture({
      planes: ['llm'],
      env,
      cwd: dir,
      onNote: (note) => notes.push(note),
    });
    onTestFinished(() => capture.close());
    const watch = {
      open: async () => {
        const slot = await capture.open();
        const end = async (how: AgentEnd) => {
          const result = await slot.end(how);
          asked.push(
            result.evidence.exchanges.map(({ request }) => JSON.parse(request.toString()).model),
          );
          return result;
        };
        return { ...slot, end };
      },
    };
    const runner = createModuleRunner(
      { kind: 'module', module: 'agent.mjs', export: 'default', acceptsErrors: false } as never,
      { dir, env, timeoutMs: 5000, workers: 1, watch },
    );
    onTestFinished(() => runner.close());
    for (const text of [query, 'slow'])
      await runner.run({ query: text, id: text, run: 1, signal: AbortSignal.timeout(5000) });
    expect(asked).toEqual([models, ['own']]);
    expect(notes.map(({ code }) => code)).toEqual([
      'CAPTURE_UPSTREAM',
      ...(isTold ? ['CAPTURE_LATE'] : []),
    ]);
    expect(upstream.requests.every(({ headers }) => headers['x-agentci-query'] === undefined)).toBe(
      true,
    );
  },
);
