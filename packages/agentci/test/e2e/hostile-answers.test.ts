import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

/** Invalid answers of agents. Every text contains a word that a check looks for. */
const NOTHING_FOUND: Record<string, string> = {
  'cut json': JSON.stringify({ ok: 'ok', more: [1, 2, 3] }, null, 2).slice(0, 20),
  'cut list': '[\n  "ok",',
  null: 'null',
  quotes: '""',
  undefined: 'undefined',
  error: '{"error": "ok, but the quota is used up"}',
  errors: '{"errors": [{"message": "ok?"}], "data": null}',
  page: '<!-- ok -->\n<!DOCTYPE html><html><title>ok</title></html>',
  'zero width': '\u200b',
  'no-break space': '\u00a0',
  'empty object': '{}',
  events: 'data: {"text": "ok"}\n\n',
  'empty answer': '{"answer": ""}',
  'null answer': '{"answer": null}',
  'cut recording': 'log\n{"answer": "ok", "tool_calls": [',
};
const ANSWERS = [
  '[1] ok, see the docs',
  '{name} is ok',
  '{"ok": true}',
  '"ok"',
  '# ok\n```json\n{"a":',
];
const queries = [...Object.keys(NOTHING_FOUND), ...ANSWERS.keys()].map(String);
const given = JSON.stringify({ ...NOTHING_FOUND, ...Object.fromEntries(ANSWERS.entries()) });

const specFor = (runner: string) => `agent: demo
runner: ${runner}
defaults: {correctness: {not_in_answer: [secret words]}}
queries:
${queries.map((query) => `  - {query: ${JSON.stringify(query)}}`).join('\n')}
`;
const statuses = (stdout: string) =>
  Object.fromEntries(
    (JSON.parse(stdout) as { results: { query: string; status: string }[] }).results.map(
      ({ query, status }) => [query, status],
    ),
  );
const expected = Object.fromEntries(
  queries.map((query) => [query, query in NOTHING_FOUND ? 'error' : 'pass']),
);

const command = `let input = ''; process.stdin.on('data', (c) => { input += c }).on('end', () => process.stdout.write(${given}[JSON.parse(input).query]));`;

test('an invalid answer is not an answer from a command, a module and a server alike', async () => {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.end(JSON.parse(given)[(JSON.parse(body) as { query: string }).query]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const runners = [
    `{command: [${process.execPath}, agent.cjs]}`,
    '{module: ./agent.mjs}',
    `{http: {url: "http://127.0.0.1:${(server.address() as AddressInfo).port}/"}}`,
  ];
  for (const runner of runners) {
    const cwd = tempDir({
      'agentci_spec.yaml': specFor(runner),
      'agent.cjs': command,
      'agent.mjs': `export default (query) => (${given})[query];`,
    });
    const { code, stdout, stderr } = await cli(['test', '-f', 'json', '-w', '2'], { cwd });
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(statuses(stdout)).toEqual(expected);
    expect(code).toBe(2);
  }
}, 120_000);

test('a stream is read, a redirect is not followed, and other statuses are accepted only by the spec', async () => {
  const chunk = (content: string, finish: string | null) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
  const leaked: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/elsewhere') leaked.push(String(request.headers['x-api-key']));
    const name = request.url!.slice(1);
    if (name === 'stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunk('ok ', null)}${chunk('then', 'length')}data: [DONE]\n\n`);
    } else if (name === 'cut') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(chunk('ok ', null));
    } else if (name === 'redirect') response.writeHead(307, { location: '/elsewhere?key=1' }).end();
    else response.writeHead(name === 'later' ? 202 : 200).end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{{query}}`;
  const spec = (extra = '') => `agent: demo
runner:
  retries: 0
  http: {url: "${url}", headers: {x-api-key: "\${AGENT_KEY}"}${extra}}
defaults: {correctness: {expected_in_answer: [ok]}}
queries: [{query: stream}, {query: cut}, {query: redirect}, {query: later}]
`;
  const env = { AGENT_KEY: 'k-1234567890' };
  const cwd = tempDir({
    'agentci_spec.yaml': spec(),
    'accepting.yaml': spec(', accept_status: [202]'),
  });
  const { code, stdout } = await cli(['test', '-f', 'json'], { cwd, env });
  const { results } = JSON.parse(stdout);
  expect(results.map(({ status }: { status: string }) => status)).toEqual([
    'warn',
    'error',
    'error',
    'error',
  ]);
  expect(results[0]).toMatchObject({
    answer: 'ok then',
    correctness: { checks: [{ status: 'pass' }, { id: 'answer.truncated', status: 'warn' }] },
    cost: { details: { actual: { ttft_ms: expect.any(Number) } } },
  });
  expect(results[1].error.message).toMatch(/ended before the answer/);
  expect(results[2].error.message).toMatch(/a redirect to \/elsewhere, which is not followed/);
  expect(results[3].error.message).toMatch(/HTTP 202/);
  expect(leaked).toEqual([]);
  expect(code).toBe(2);
  const accepting = await cli(['test', '-c', 'accepting.yaml', '-f', 'json'], { cwd, env });
  expect(statuses(accepting.stdout).later).toBe('pass');
});

test('an answer that was cut off is in every report and exits 1 under --strict', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml':
      'agent: demo\nqueries: [{id: q, query: q, correctness: {expected_in_answer: [ok]}}]\n',
    'traces.jsonl':
      'not JSON at all\n'.slice(0, 0) +
      '{"id":"q","query":"q","answer":"ok","finish_reason":"MAX_TOKENS","nonsense":1}\n',
  });
  for (const format of ['console', 'github', 'json', 'junit', 'sarif', 'markdown', 'csv', 'html']) {
    const { code, stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', format], { cwd });
    expect({ format, code, has: stdout.includes('the answer was cut off') }).toEqual({
      format,
      code: 0,
      has: true,
    });
    // The trace's own error is included.
    expect({ format, has: /has no key .*nonsense/.test(stdout) }).toEqual({ format, has: true });
  }
  const { stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', 'prometheus'], { cwd });
  expect(stdout).toMatch(/agentci_trace_warnings\{[^}]*query_id="q"[^}]*\} 1/);
  expect((await cli(['test', '--traces', 'traces.jsonl', '--strict'], { cwd })).code).toBe(1);
}, 60_000);

test('an error object is an answer if the spec accepts it', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml':
      'agent: demo\nrunner: {module: ./a.mjs, accept_errors: true}\nqueries: [{query: q, correctness: {expected_in_answer: [not_found]}}]\n',
    'a.mjs': 'export default () => ({ error: "not_found" })',
  });
  expect((await cli(['test'], { cwd })).code).toBe(0);
});
