import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ioOf } from '../../../test/support/io.ts';
import { tempDir } from '../../../test/support/temp-dir.ts';
import { RunStore } from '../../store/run-store.ts';
import { runsRoot } from '../spec-folders.ts';
import { examine } from './examine.ts';

const spec = (rest = '', check = 'correctness: {exact_match: x}') =>
  `agent: demo\nqueries: [{query: q, ${check}}]\n${rest}`;
const RUBRIC = 'correctness: {llm_judge: [{rule: is polite}]}';

async function look(what: string, files: Record<string, string | object>, { env = {}, node = '22.0.0' } = {}) {
  const cwd = tempDir(files);
  const findings = await examine(join(cwd, 'agentci_spec.yaml'), ioOf(cwd, { env }).io, node);
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
    status: 'warn',
    says: 'no key',
  },
  {
    what: 'no key, but stored verdicts',
    files: { '.agentci/judge-cache/a.json': {} },
    status: 'ok',
    says: '--judge recorded',
  },
  { what: 'neither', status: 'warn', says: 'no key and no stored verdicts' },
])('a rubric with $what is $status', async ({ rest, env, files, status, says }) => {
  expect(await look('judge', { 'agentci_spec.yaml': spec(rest, RUBRIC), ...files }, env ? { env } : {})).toMatchObject({
    status,
    detail: expect.stringContaining(says),
  });
});

test.each([
  { what: 'a path that is there', runner: '{command: [./run.sh], cwd: sub}', status: 'ok' },
  { what: 'a path that is not there', runner: '{command: [./run.sh]}', status: 'fail' },
  { what: 'a URL without its variable', runner: '{http: {url: "http://${HOST}"}}', status: 'fail' },
  {
    what: 'a URL with its variable',
    runner: '{http: {url: "http://${HOST}:1/"}}',
    status: 'fail',
    says: 'http://127.0.0.1:1 does not answer',
  },
])('a runner with $what is $status', async ({ what, runner, status, says = '' }) => {
  const env = what.includes('with its') ? { env: { HOST: '127.0.0.1' } } : {};
  const files = { 'agentci_spec.yaml': spec(`runner: ${runner}\n`), 'sub/run.sh': '' };
  expect(await look('runner', files, env)).toMatchObject({ status, detail: expect.stringContaining(says) });
});

test('warnings of a spec, a broken baseline and an unfinished run are seen', async () => {
  const warned = { 'agentci_spec.yaml': 'agent: demo\nqueries: [{query: q}]\n' };
  expect(await look('spec', warned)).toMatchObject({
    status: 'warn',
    detail: expect.stringMatching(/1 queries, 1 warnings$/),
  });
  expect(await look('baselines', { 'agentci_spec.yaml': spec(), 'baselines/demo/v1/a.json': '{' })).toMatchObject({
    status: 'fail',
    fix: 'Restore the file or delete it.',
  });
  const cwd = tempDir();
  const header = { run_id: 'r1', agent: 'demo', spec: { file: 's', hash: 'h' }, started_at: '' };
  RunStore.create(runsRoot(cwd), header).close();
  const findings = await examine('none.yaml', ioOf(cwd).io, '22.0.0');
  expect(findings.at(-1)).toEqual({
    what: 'runs',
    status: 'ok',
    detail: '1 stored, 1 unfinished (--resume continues one)',
  });
});
