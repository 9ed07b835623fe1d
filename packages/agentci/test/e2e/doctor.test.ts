import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';
import { tempDir } from '../support/temp-dir.ts';

const spec = (runner: string, query = 'correctness: {exact_match: x}') =>
  `version: 1\nagent: demo\n${runner}queries:\n  - query: q\n    ${query}\n`;
const NO_KEYS = { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '', GEMINI_API_KEY: '' };

async function examine(files: Record<string, string>, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await cli(['doctor', '--json'], {
    cwd: tempDir(files),
    env: { ...NO_KEYS, ...env },
  });
  const { findings } = JSON.parse(stdout) as {
    findings: { what: string; status: string; detail: string; fix?: string }[];
  };
  return { code, stdout, stderr, of: (what: string) => findings.find((finding) => finding.what === what) };
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
  { when: 'a module that is there', runner: 'runner: {module: ./agent.mjs}\n', status: 'ok', code: 0 },
  { when: 'a module that is not there', runner: 'runner: {module: ./none.mjs}\n', status: 'fail', code: 1 },
  { when: 'recordings that are not there', runner: 'runner: {replay: ./none.jsonl}\n', status: 'fail', code: 1 },
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
  const result = await examine({ 'agentci_spec.yaml': spec(runner), 'agent.mjs': 'throw new Error("loaded")' });
  expect(result.of('runner')).toMatchObject({ status, ...(status === 'ok' ? {} : { fix: expect.any(String) }) });
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
  expect(of('judge')).toMatchObject({ status: 'ok', detail: expect.stringContaining('ANTHROPIC_API_KEY') });
  expect(stdout + stderr).not.toContain('sk-very-secret');
});

test.each([
  { when: 'the spec is missing', files: {} },
  { when: 'the spec is wrong', files: { 'agentci_spec.yaml': 'version: 1\nagent: x\nqueries: []\n' } },
])('when $when the exit code is 1 and the fix is said', async ({ files }) => {
  const result = await examine(files);
  expect(result.of('spec')).toMatchObject({ status: 'fail', fix: expect.any(String) });
  expect(result.code).toBe(1);
});
