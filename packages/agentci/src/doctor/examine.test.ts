import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { RunStore } from '@agentci/run';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { ioOf } from '../../test/support/io.ts';
import { runsRoot } from '../stored-runs/spec-folders.ts';
import { examine } from './examine.ts';

const spec = (rest = '', check = 'correctness: {exact_match: x}') =>
  `agent: demo\nqueries: [{query: q, ${check}}]\n${rest}`;
const RUBRIC = 'correctness: {llm_judge: [{rule: is polite}]}';

async function look(
  what: string,
  files: Record<string, string | object>,
  { env = {}, node = '22.0.0' } = {},
  prepare: (cwd: string) => void = () => {},
) {
  const cwd = tempDir(files);
  prepare(cwd);
  const findings = await examine(join(cwd, 'agentci_spec.yaml'), ioOf(cwd, { env }).io, {
    nodeVersion: node,
  });
  return findings.find((finding) => finding.what === what);
}

test.each([
  { node: '18.20.0', status: 'fail' },
  { node: '20.18.3', status: 'fail' },
  { node: '20.19.0', status: 'ok' },
  { node: '22.0.0', status: 'ok' },
])('Node $node is $status', async ({ node, status }) => {
  expect(await look('node', {}, { node })).toMatchObject({ status, detail: node });
});

test.each([
  {
    what: 'a key of the name the spec gives',
    rest: 'judge_config: {api_key_env: MY_KEY}\n',
    env: { MY_KEY: 'x' },
    status: 'ok',
    says: 'key in MY_KEY',
  },
  {
    what: 'only a key of another name',
    rest: 'judge_config: {api_key_env: MY_KEY}\n',
    env: { OPENAI_API_KEY: 'x' },
    status: 'fail',
    says: 'no key',
  },
  {
    what: 'no key, but stored verdicts',
    files: { '.agentci/judge-cache/a.json': {} },
    status: 'ok',
    says: '--judge recorded',
  },
  {
    what: 'a key of another provider than the judge',
    rest: 'judge_config: {model: gpt-4o-mini}\n',
    env: { ANTHROPIC_API_KEY: 'x' },
    status: 'fail',
    says: 'no key',
  },
  {
    what: 'a judge on a custom server',
    rest: 'judge_config: {model: llama, base_url: "http://127.0.0.1:1"}\n',
    status: 'ok',
    says: 'no key needed',
  },
  {
    what: 'keys for two judges of three',
    rest: 'judge_config: {ensemble: {enabled: true}}\n',
    env: { OPENAI_API_KEY: 'x' },
    status: 'warn',
    says: '1 of 3 judges have no key',
  },
  { what: 'neither', status: 'fail', says: 'no key and no stored verdicts' },
])('a rubric with $what is $status', async ({ rest, env, files, status, says }) => {
  expect(
    await look('judge', { 'agentci_spec.yaml': spec(rest, RUBRIC), ...files }, env ? { env } : {}),
  ).toMatchObject({
    status,
    detail: expect.stringContaining(says),
  });
});

test.each([
  { what: 'a path that is there', runner: '{command: [./run.sh], cwd: sub}', status: 'ok' },
  { what: 'a path that is not there', runner: '{command: [./run.sh]}', status: 'fail' },
  {
    what: 'a program that may not be executed',
    runner: '{command: [./plain.txt]}',
    status: 'fail',
    says: 'not found',
  },
  {
    what: 'a script that is not there',
    runner: '{command: [node, none.mjs]}',
    status: 'fail',
    says: 'none.mjs',
  },
  {
    what: 'a script that is there',
    runner: '{command: [node, --no-warnings, sub/a.mjs]}',
    status: 'ok',
  },
  { what: 'code instead of a script', runner: '{command: [node, -e, "x.js"]}', status: 'ok' },
  {
    what: 'a folder that is not there',
    runner: '{command: [node, a.mjs], cwd: none}',
    status: 'fail',
    says: '"none"',
  },
  {
    what: 'a module that is a folder',
    runner: '{module: ./sub}',
    status: 'fail',
    says: 'is not a file',
  },
  { what: 'recordings of every query', runner: '{replay: ./traces.jsonl}', status: 'ok' },
  {
    what: 'recordings of another query',
    runner: '{replay: ./other.jsonl}',
    status: 'fail',
    says: 'none for 1 query (',
  },
  { what: 'recordings that cannot be read', runner: '{replay: ./broken.jsonl}', status: 'fail' },
  {
    what: 'a URL without its variable',
    runner: '{http: {url: "http://${HOST}"}}',
    status: 'fail',
    says: 'environment variable HOST',
  },
  {
    what: 'a URL with its variable',
    runner: '{http: {url: "http://${HOST}:1/"}}',
    status: 'fail',
    says: 'http://127.0.0.1:1 does not answer',
  },
])('a runner with $what is $status', async ({ what, runner, status, says = '' }) => {
  const env = {
    env: {
      PATH: process.env.PATH ?? '',
      ...(what.includes('with its') ? { HOST: '127.0.0.1' } : {}),
    },
  };
  const files = {
    'agentci_spec.yaml': spec(`runner: ${runner}\n`),
    'sub/run.sh': '',
    'sub/a.mjs': '',
    'plain.txt': '',
    'traces.jsonl': '{"query": "q", "answer": "x"}\n',
    'other.jsonl': '{"query": "z", "answer": "x"}\n',
    'broken.jsonl': '{"query',
  };
  expect(
    await look('runner', files, env, (cwd) => chmodSync(join(cwd, 'sub/run.sh'), 0o755)),
  ).toMatchObject({
    status,
    detail: expect.stringContaining(says),
  });
});

test('a baseline the spec asks for and a metric module that are not there would stop the run', async () => {
  const files = { 'agentci_spec.yaml': spec('baseline: v9\nuse: [./tone.mjs]\n') };
  expect(await look('baselines', files)).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('"v9"'),
  });
  expect(await look('use', files)).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('./tone.mjs'),
  });
});

test('warnings of a spec, a broken baseline and an unfinished run are seen', async () => {
  const warned = { 'agentci_spec.yaml': 'agent: demo\nqueries: [{query: q}]\n' };
  expect(await look('spec', warned)).toMatchObject({
    status: 'warn',
    detail: expect.stringMatching(/1 query, 1 warning$/),
  });
  expect(
    await look('baselines', { 'agentci_spec.yaml': spec(), 'baselines/demo/v1/a.json': '{' }),
  ).toMatchObject({
    status: 'fail',
    fix: 'Repair the file or remove it.',
  });
  const cwd = tempDir();
  const header = { run_id: 'r1', agent: 'demo', spec: { file: 's', hash: 'h' }, started_at: '' };
  RunStore.create(runsRoot(cwd), header).close();
  const findings = await examine('none.yaml', ioOf(cwd).io, { nodeVersion: '22.0.0' });
  expect(findings.at(-1)).toEqual({
    what: 'runs',
    status: 'ok',
    detail: '1 stored, 1 unfinished (--resume continues one)',
  });
});
