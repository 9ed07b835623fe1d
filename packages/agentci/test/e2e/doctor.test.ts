import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const spec = (runner: string, query = 'correctness: {exact_match: x}') =>
  `version: 1\nagent: demo\n${runner}queries:\n  - query: q\n    ${query}\n`;
const NO_KEYS = {
  ANTHROPIC_API_KEY: '',
  OPENAI_API_KEY: '',
  GOOGLE_GENERATIVE_AI_API_KEY: '',
  GEMINI_API_KEY: '',
};

async function examine(
  files: Record<string, string | undefined>,
  env: Record<string, string> = {},
) {
  const { code, stdout, stderr } = await cli(['doctor', '--json'], {
    cwd: tempDir(files),
    env: { ...NO_KEYS, ...env },
  });
  const { findings } = JSON.parse(stdout) as {
    findings: { what: string; status: string; detail: string; fix?: string }[];
  };
  return {
    code,
    stdout,
    stderr,
    of: (what: string) => findings.find((finding) => finding.what === what),
  };
}

test.each([
  {
    when: 'a command that is installed',
    runner: `runner: {command: [${process.execPath}, agent.mjs]}\n`,
    status: 'ok',
    code: 0,
  },
  {
    when: 'a command that is not installed',
    runner: 'runner: {command: [no-such-program-here]}\n',
    status: 'fail',
    code: 1,
  },
  {
    when: 'a module that is there',
    runner: 'runner: {module: ./agent.mjs}\n',
    status: 'ok',
    code: 0,
  },
  {
    when: 'a module that is not there',
    runner: 'runner: {module: ./none.mjs}\n',
    status: 'fail',
    code: 1,
  },
  {
    when: 'recordings that are not there',
    runner: 'runner: {replay: ./none.jsonl}\n',
    status: 'fail',
    code: 1,
  },
  {
    when: 'an agent that does not answer',
    runner: 'runner: {http: {url: "http://127.0.0.1:1/ask"}}\n',
    status: 'fail',
    code: 1,
  },
  {
    when: 'a script that is not there',
    runner: `runner: {command: [${process.execPath}, none.js]}\n`,
    status: 'fail',
    code: 1,
  },
  { when: 'no runner', runner: '', status: 'fail', code: 1 },
])('$when: the runner is $status and the exit code $code', async ({ runner, status, code }) => {
  const result = await examine({
    'agentci_spec.yaml': spec(runner),
    'agent.mjs': 'throw new Error("loaded"); export default () => 1',
  });
  expect(result.of('runner')).toMatchObject({
    status,
    ...(status === 'ok' ? {} : { fix: expect.any(String) }),
  });
  expect(result.code).toBe(code);
});

test('an agent that answers is reachable, and is sent nothing', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const result = await examine({
    'agentci_spec.yaml': spec(`runner: {http: {url: "http://127.0.0.1:${port}/ask"}}\n`),
  });
  expect(result.of('runner')).toMatchObject({ status: 'ok' });
  expect(requests).toBe(0);
});

test('keys are named and never shown', async () => {
  const files = { 'agentci_spec.yaml': spec('', 'correctness: {llm_judge: [{rule: is polite}]}') };
  expect((await examine(files)).of('judge')).toMatchObject({
    status: 'fail',
    fix: expect.stringContaining('ANTHROPIC_API_KEY'),
  });
  const { of, stdout, stderr } = await examine(files, { ANTHROPIC_API_KEY: 'sk-very-secret' });
  expect(of('judge')).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('ANTHROPIC_API_KEY'),
  });
  expect(stdout + stderr).not.toContain('sk-very-secret');
});

test.each([
  { when: 'the spec is missing', files: {} },
  {
    when: 'the spec is wrong',
    files: { 'agentci_spec.yaml': 'version: 1\nagent: x\nqueries: []\n' },
  },
])('when $when the exit code is 1 with a fix', async ({ files }) => {
  const result = await examine(files);
  expect(result.of('spec')).toMatchObject({ status: 'fail', fix: expect.any(String) });
  expect(result.code).toBe(1);
});

describe('doctor fails where test could not tell, and only there', () => {
  const recorded = '{"query": "q", "answer": "x"}\n';
  const works = 'export default () => "x";\n';
  const node = process.execPath;
  test.each<{
    when: string;
    runner: string;
    query?: string;
    files?: Record<string, string>;
    fails: boolean;
  }>([
    {
      when: 'a module works',
      runner: '{module: ./a.mjs}',
      files: { 'a.mjs': works },
      fails: false,
    },
    { when: 'a module is missing', runner: '{module: ./a.mjs}', fails: true },
    {
      when: 'a module does not parse',
      runner: '{module: ./a.mjs}',
      files: { 'a.mjs': 'export default (' },
      fails: true,
    },
    {
      when: 'a module exports nothing',
      runner: '{module: ./a.mjs}',
      files: { 'a.mjs': 'const a = 1;' },
      fails: true,
    },
    {
      when: 'a command works',
      runner: `{command: [${node}, a.mjs]}`,
      files: { 'a.mjs': 'console.log("x")' },
      fails: false,
    },
    { when: 'a script is missing', runner: `{command: [${node}, a.mjs]}`, fails: true },
    { when: 'a program is missing', runner: '{command: [no-such-program]}', fails: true },
    { when: 'a folder is missing', runner: `{command: [${node}, a.mjs], cwd: none}`, fails: true },
    {
      when: 'recordings are there',
      runner: '{replay: ./t.jsonl}',
      files: { 't.jsonl': recorded },
      fails: false,
    },
    {
      when: 'recordings are of other queries',
      runner: '{replay: ./t.jsonl}',
      files: { 't.jsonl': recorded.replace('"q"', '"z"') },
      fails: true,
    },
    {
      when: 'recordings are damaged',
      runner: '{replay: ./t.jsonl}',
      files: { 't.jsonl': '{"query' },
      fails: true,
    },
    {
      when: 'a variable is missing',
      runner: '{http: {url: "http://127.0.0.1:1/", headers: {authorization: "${NO_SUCH_KEY}"}}}',
      fails: true,
    },
    {
      when: 'the key of the judge is missing',
      runner: '{module: ./a.mjs}',
      files: { 'a.mjs': works },
      query: 'correctness: {llm_judge: [{rule: is polite}]}',
      fails: true,
    },
  ])('$when', async ({ runner, query, files = {}, fails }) => {
    const cwd = tempDir({ 'agentci_spec.yaml': spec(`runner: ${runner}\n`, query), ...files });
    const doctor = await cli(['doctor'], { cwd, env: NO_KEYS });
    const run = await cli(['test', '--retries', '0'], { cwd, env: NO_KEYS });
    expect({ doctor: doctor.code, test: run.code, says: doctor.stdout }).toMatchObject(
      fails ? { doctor: 1, test: 2 } : { doctor: 0, test: 0 },
    );
  });
});

describe('capture', () => {
  const runner = (more = '') =>
    `runner: {command: [${process.execPath}, agent.mjs], capture: auto${more}}\n`;
  const agent = (url: string) =>
    `const reply = await fetch(${url} + '/chat/completions', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{"model":"m","messages":[]}'});
     console.log((await reply.json()).choices[0].message.content);`;

  test('names the providers in use and the addresses of their calls', async () => {
    const files = { 'agentci_spec.yaml': spec(runner()), 'agent.mjs': 'export {}' };
    const found = await examine(files, { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: '' });
    expect(found.of('capture')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('openai (api.openai.com)'),
    });
  });

  test('the port for spans of a service is free, or not', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const files = {
      'agentci_spec.yaml': spec(
        `runner: {http: {url: "http://127.0.0.1:${port}/"}, capture: {otlp: "127.0.0.1:${port}"}}\n`,
      ),
    };
    expect((await examine(files)).of('capture')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('another program uses this port'),
    });
    server.close();
    await once(server, 'close');
    expect((await examine(files)).of('capture')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining(`OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${port}`),
    });
  });

  test('a spec without capture has no such finding, and one without a provider is warned of', async () => {
    const plain = {
      'agentci_spec.yaml': spec(runner().replace(', capture: auto', '')),
      'agent.mjs': 'export {}',
    };
    expect((await examine(plain)).of('capture')).toBeUndefined();
    const files = { 'agentci_spec.yaml': spec(runner()), 'agent.mjs': 'export {}' };
    expect((await examine(files, { OPENAI_BASE_URL: '' })).of('capture')).toMatchObject({
      status: 'warn',
    });
  });

  test.each([
    [
      'reads the variable',
      'process.env.OPENAI_BASE_URL',
      'ok',
      '1 call of openai (OPENAI_BASE_URL) came through',
      0,
    ],
    [
      'has the address in its code',
      "'http://127.0.0.1:9'",
      'ok',
      '1 call of localhost:9 (in its code) came through',
      0,
    ],
    [
      'calls what is not known for a model',
      "'http://127.0.0.1:9/?'",
      'fail',
      'none of its calls came through',
      1,
    ],
  ])('--capture runs an agent that %s, and asks no model', async (_, url, status, detail, code) => {
    const cwd = tempDir({ 'agentci_spec.yaml': spec(runner()), 'agent.mjs': agent(url) });
    const outcome = await cli(['doctor', '--capture', '--json'], {
      cwd,
      env: { ...NO_KEYS, OPENAI_BASE_URL: '' },
    });
    const { findings } = JSON.parse(outcome.stdout) as {
      findings: { what: string; status: string; detail: string }[];
    };
    expect(findings.find(({ what }) => what === 'capture')).toMatchObject({
      status,
      detail: expect.stringContaining(detail),
    });
    expect(outcome.code).toBe(code);
  });
});
