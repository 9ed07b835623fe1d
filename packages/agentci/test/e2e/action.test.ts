import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI } from '@agentci/testing/cli';
import { collectGarbage } from '@agentci/testing/garbage';
import { SLOW_SERVERS, serveSlowly } from '@agentci/testing/slow-servers';
import { tempDir } from '@agentci/testing/temp-dir';
import { load } from 'js-yaml';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

// Runs the steps of the action with a small runner in place of GitHub's: inputs, step outputs,
// output and summary files.

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');
const action = load(readFileSync(join(root, 'action.yml'), 'utf8')) as {
  inputs: Record<string, { default: string }>;
  runs: {
    steps: {
      id?: string;
      uses?: string;
      run?: string;
      if?: string;
      env?: Record<string, string>;
    }[];
  };
};

interface Comment {
  id: number;
  body: string;
  user?: { login: string };
}

const BOT = { login: 'github-actions[bot]' };

/** The subset of GitHub's API that the action needs, on loopback. */
async function github(comments: Comment[], status = 200) {
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    // GitHub does not reveal the owner of a workflow's token.
    if (incoming.url === '/user') return void response.writeHead(403).end('{}');
    const id = Number(/comments\/(\d+)$/.exec(incoming.url ?? '')?.[1]);
    if (incoming.method === 'POST')
      comments.push({
        id: comments.length + 1,
        user: BOT,
        ...(JSON.parse(body) as { body: string }),
      });
    if (incoming.method === 'PATCH')
      Object.assign(comments.find((entry) => entry.id === id)!, JSON.parse(body));
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(incoming.method === 'GET' ? comments : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function runAction(cwd: string, given: Record<string, string>, api: string, temp = '') {
  const inputs: Record<string, string> = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, given[name] ?? input.default]),
  );
  const outputs: Record<string, string> = {};
  const value = (expression: string): string => {
    const name = expression.trim();
    if (name.startsWith('inputs.')) return inputs[name.slice(7)] ?? '';
    if (name.startsWith('steps.run.outputs.')) return outputs[name.slice(18)] ?? '';
    if (name === 'runner.temp') return temp;
    return name === 'github.action_path' ? root : '';
  };
  const fill = (text: string) =>
    text.replace(/\$\{\{([^}]+)\}\}/g, (_, expression: string) => value(expression));
  const holds = (condition: string | undefined) =>
    (condition ?? 'true').split('&&').every((part) => {
      const [, left = '', operator, right] = /^\s*(\S+)\s*(==|!=)\s*'([^']*)'\s*$/.exec(part) ?? [];
      return operator === undefined || (value(left) === right) === (operator === '==');
    });
  let log = '';
  let code = 0;
  for (const step of action.runs.steps) {
    if (step.run === undefined || step.run.includes('install.mjs') || !holds(step.if)) continue;
    const env = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, text]) => [name, fill(text)]),
    );
    const child = spawn('bash', ['-eo', 'pipefail', '-c', step.run], {
      cwd,
      env: {
        PATH: process.env.PATH,
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: cwd,
        GITHUB_REPOSITORY: 'acme/bot',
        GITHUB_API_URL: api,
        GITHUB_EVENT_PATH: join(cwd, 'event.json'),
        GITHUB_OUTPUT: join(cwd, 'output.txt'),
        GITHUB_STEP_SUMMARY: join(cwd, 'step-summary.md'),
        AGENTCI_BIN: join(cwd, 'agentci'),
        ...env,
      },
    });
    child.stdout.on('data', (chunk) => {
      log += chunk;
    });
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    code = await new Promise<number>((resolve) =>
      child.on('close', (status) => resolve(status ?? 1)),
    );
    for (const [, name, , text] of readFileSync(join(cwd, 'output.txt'), 'utf8').matchAll(
      /^([\w-]+)<<(?<end>\S+)\n([\s\S]*?)\n\k<end>$/gm,
    ))
      outputs[name!] = text!;
  }
  return { code, log, outputs, summary: readFileSync(join(cwd, 'step-summary.md'), 'utf8') };
}

const project = (answer: string, path = '') => {
  const dir = tempDir({
    'agentci_spec.yaml': `version: 1\nagent: demo\nqueries:\n  - {id: a, query: q, correctness: {expected_in_answer: [ok]}${path}}\n`,
    'traces.jsonl': `${JSON.stringify({ id: 'a', query: 'q', answer, tool_calls: [{ name: 't' }] })}\n`,
    'event.json': { pull_request: { number: 7 } },
    'output.txt': '',
    'step-summary.md': '',
    agentci: `#!/usr/bin/env bash\nexec "${process.execPath}" "${CLI}" "$@"\n`,
  });
  chmodSync(join(dir, 'agentci'), 0o755);
  return dir;
};

test('a failing run: annotations, summary, one comment, and the job fails last', async () => {
  const comments: Comment[] = [{ id: 1, body: 'somebody else' }];
  const api = await github(comments);
  const { code, log, outputs, summary } = await runAction(
    project('no'),
    { traces: 'traces.jsonl' },
    api,
  );
  expect(code).toBe(1);
  expect(log).toMatch(/^::error file=agentci_spec\.yaml,line=4/m);
  expect(outputs).toMatchObject({
    'exit-code': '1',
    verdict: '1',
    sarif: 'agentci-results/results.sarif',
  });
  expect(summary).toContain('AgentCI: demo');
  expect(comments).toHaveLength(2);
  expect(comments[1]?.body).toMatch(/^<!-- agentci:demo:agentci_spec\.yaml -->/);
});

test('the next run updates its comment in place', async () => {
  const comments: Comment[] = [
    { id: 1, user: BOT, body: '<!-- agentci:demo:agentci_spec.yaml -->\nold' },
  ];
  const { code } = await runAction(
    project('ok'),
    { traces: 'traces.jsonl' },
    await github(comments),
  );
  expect(code).toBe(0);
  expect(comments).toHaveLength(1);
  expect(comments[0]?.body).toContain('1 passed');
});

test("another user's comment is left alone, whatever its marker", async () => {
  const body = '<!-- agentci:demo:agentci_spec.yaml -->\nforged';
  const comments: Comment[] = [{ id: 1, user: { login: 'mallory' }, body }];
  await runAction(project('ok'), { traces: 'traces.jsonl' }, await github(comments));
  expect(comments.map((entry) => entry.user?.login)).toEqual(['mallory', BOT.login]);
  expect(comments[0]?.body).toBe(body);
});

test('an input cannot inject an output', async () => {
  const shard = '9/9\nverdict=0\nverdict<<x\n0\nx';
  const { outputs } = await runAction(
    project('ok'),
    { traces: 'traces.jsonl', shard, comment: 'false' },
    'http://127.0.0.1:1',
  );
  expect(outputs.verdict).toBe('2');
});

test.each([
  { failOn: 'never', answer: 'no', code: 0 },
  { failOn: 'fail', answer: 'ok', code: 0 },
  { failOn: 'warn', answer: 'ok', code: 1 },
  { failOn: 'sometimes', answer: 'ok', code: 2 },
])(
  'fail-on $failOn with a warning and the answer "$answer" exits $code',
  async ({ failOn, answer, code }) => {
    const cwd = project(answer, ', path: {max_tool_calls: 0}');
    expect(
      (
        await runAction(
          cwd,
          { traces: 'traces.jsonl', 'fail-on': failOn, comment: 'false' },
          'http://127.0.0.1:1',
        )
      ).code,
    ).toBe(code);
  },
);

test('with the results of the base branch the comment leads with what changed', async () => {
  const comments: Comment[] = [];
  const api = await github(comments);
  const cwd = project('ok');
  await runAction(cwd, { traces: 'traces.jsonl' }, api);
  renameSync(join(cwd, 'agentci-results', 'results.json'), join(cwd, 'base.json'));
  writeFileSync(
    join(cwd, 'traces.jsonl'),
    `${JSON.stringify({ id: 'a', query: 'q', answer: 'no', tool_calls: [] })}\n`,
  );
  const { code } = await runAction(cwd, { traces: 'traces.jsonl', base: 'base.json' }, api);
  expect(code).toBe(1);
  expect(comments[0]!.body.split('\n')[5]).toMatch(
    /^\*\*Worse\*\* against .*1 query in both runs\. 1 query passed before and fails now\./,
  );
  expect(comments[0]!.body.split('\n')[7]).toContain('passed before, fails now');
});

test.each(['none.json', 'agentci_spec.yaml'])(
  'an unreadable base (%s) is a warning and the verdict holds',
  async (base) => {
    const comments: Comment[] = [];
    const { code, log } = await runAction(
      project('ok'),
      { traces: 'traces.jsonl', base },
      await github(comments),
    );
    expect(code).toBe(0);
    expect(log).toContain('::warning title=AgentCI::');
    expect(comments[0]!.body).toContain('1 passed');
  },
);

test.each([
  {
    when: 'the newest of the branch',
    artifacts: [artifact(1, 'main'), artifact(3, 'main'), artifact(2, 'main')],
    run: '3',
  },
  { when: 'none of another branch', artifacts: [artifact(1, 'topic')], run: undefined },
  { when: 'none of a fork', artifacts: [artifact(1, 'main', { fork: 9 })], run: undefined },
  {
    when: 'none that is gone',
    artifacts: [artifact(1, 'main', { expired: true })],
    run: undefined,
  },
])('the base is $when', async ({ artifacts, run }) => {
  const server = createServer((_, response) => void response.end(JSON.stringify({ artifacts })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const output = join(tempDir({ 'output.txt': '' }), 'output.txt');
  const child = spawn(process.execPath, [join(root, 'scripts', 'action', 'base.mjs')], {
    env: {
      ...{
        GITHUB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        GITHUB_REPOSITORY: 'a/b',
      },
      ...{ GITHUB_BASE_REF: 'main', GITHUB_OUTPUT: output, AGENTCI_NAME: 'agentci' },
    },
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(readFileSync(output, 'utf8')).toBe(run === undefined ? '' : `run-id=${run}\n`);
});

test.each([
  {
    when: 'the newest from before the run began',
    artifacts: [artifact(1, 'main'), artifact(2, 'main'), artifact(4, 'main')],
    run: '2',
  },
  { when: 'none, because all are later', artifacts: [artifact(4, 'main')], run: undefined },
])('the timings that shards are planned from are $when', async ({ artifacts, run }) => {
  const server = createServer(({ url }, response) => {
    response.end(
      JSON.stringify(
        url!.endsWith('/actions/runs/77') ? { created_at: '2026-11-03T00:00:00Z' } : { artifacts },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const output = join(tempDir({ 'output.txt': '' }), 'output.txt');
  const step = action.runs.steps.find(({ id }) => id === 'timings')!;
  expect(step).toMatchObject({ if: "inputs.shard != ''", env: { AGENTCI_FOR_SHARD: 'true' } });
  const child = spawn(process.execPath, [join(root, 'scripts', 'action', 'base.mjs')], {
    env: {
      ...{
        GITHUB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        GITHUB_REPOSITORY: 'a/b',
      },
      ...{
        GITHUB_REF_NAME: 'main',
        GITHUB_RUN_ID: '77',
        GITHUB_OUTPUT: output,
        AGENTCI_NAME: 'agentci',
      },
      AGENTCI_FOR_SHARD: 'true',
    },
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(readFileSync(output, 'utf8')).toBe(run === undefined ? '' : `run-id=${run}\n`);
});

test('the merge keeps its timings with the results, and a shard is planned from those of an earlier run', async () => {
  const api = await github([]);
  const cwd = project('ok');
  await runAction(cwd, { traces: 'traces.jsonl', shard: '1/1' }, api);
  renameSync(join(cwd, '.agentci', 'runs'), join(cwd, 'agentci-shards'));
  writeFileSync(
    join(cwd, '.agentci', 'timings.json'),
    '{"schema":"agentci.timings/1","ms":{"a":5}}',
  );
  await runAction(cwd, { merge: 'true' }, api);
  expect(readFileSync(join(cwd, 'agentci-results', 'timings.json'), 'utf8')).toMatch(/"a": ?5/);
  // An invalid file proves that it is read.
  mkdirSync(join(cwd, 'temp', 'agentci-timings'), { recursive: true });
  writeFileSync(join(cwd, 'temp', 'agentci-timings', 'timings.json'), '[]');
  const { log } = await runAction(
    cwd,
    { traces: 'traces.jsonl', shard: '1/1' },
    api,
    join(cwd, 'temp'),
  );
  expect(log).toContain('FILE_UNREADABLE');
});

function artifact(id: number, head_branch: string, { fork = 1, expired = false } = {}) {
  const workflow_run = { id, head_branch, repository_id: 1, head_repository_id: fork };
  return { expired, created_at: `2026-11-0${id}T00:00:00Z`, workflow_run };
}

test('a comment that cannot be posted is a warning, not a verdict', async () => {
  const { code, log } = await runAction(
    project('ok'),
    { traces: 'traces.jsonl' },
    await github([], 403),
  );
  expect(code).toBe(0);
  expect(log).toMatch(/^::warning title=AgentCI::the comment could not be posted: .*403/m);
});

test('shards of a matrix keep their runs for the merge job, which alone comments and decides', async () => {
  const comments: Comment[] = [];
  const api = await github(comments);
  const cwd = project('no');
  for (const shard of ['1/2', '2/2']) {
    const { code, outputs } = await runAction(cwd, { traces: 'traces.jsonl', shard }, api);
    expect({ code, ...outputs }).toMatchObject({
      code: shard === '1/2' ? 1 : 0,
      suffix: `-${shard[0]}-of-2`,
      runs: '.agentci/runs',
    });
  }
  expect(comments).toEqual([]);
  renameSync(join(cwd, '.agentci', 'runs'), join(cwd, 'agentci-shards'));
  const { code, outputs } = await runAction(cwd, { merge: 'true' }, api);
  expect({ code, ...outputs }).toMatchObject({ code: 1, 'exit-code': '1', suffix: '', runs: '' });
  expect(comments).toHaveLength(1);
});

test.each([
  { given: { shard: 'two' }, says: 'shard must be like 2/8' },
  { given: { shard: '1/2', merge: 'true' }, says: 'shard and merge exclude each other' },
])('$says', async ({ given, says }) => {
  const { code, log } = await runAction(
    project('ok'),
    given as Record<string, string>,
    'http://127.0.0.1:1',
  );
  expect(code).toBe(2);
  expect(log).toContain(says);
});

test('a run that could not start fails the job with 2', async () => {
  expect((await runAction(project('ok'), { spec: 'none.yaml' }, 'http://127.0.0.1:1')).code).toBe(
    2,
  );
});

test('everything is kept: JSON, SARIF, JUnit, Markdown and HTML', async () => {
  const cwd = project('ok');
  const { outputs } = await runAction(
    cwd,
    { traces: 'traces.jsonl', comment: 'false' },
    'http://127.0.0.1:1',
  );
  expect(outputs).toMatchObject({
    folder: 'agentci-results',
    report: 'agentci-results/report.html',
  });
  expect(readdirSync(join(cwd, 'agentci-results')).sort()).toEqual([
    'report.html',
    'results.json',
    'results.sarif',
    'results.xml',
    'summary.md',
  ]);
});

test('working-directory: paths of inputs start there, paths of outputs and annotations at the checkout', async () => {
  const comments: Comment[] = [];
  const cwd = project('no');
  mkdirSync(join(cwd, 'services/bot'), { recursive: true });
  for (const name of ['agentci_spec.yaml', 'traces.jsonl'])
    renameSync(join(cwd, name), join(cwd, 'services/bot', name));
  const inputs = { 'working-directory': 'services/bot', traces: 'traces.jsonl' };
  const { code, log, outputs } = await runAction(cwd, inputs, await github(comments));
  expect(code).toBe(1);
  expect(log).toMatch(/^::error file=services\/bot\/agentci_spec\.yaml,line=4/m);
  expect(outputs).toMatchObject({ results: 'services/bot/agentci-results/results.json' });
  expect(comments).toHaveLength(1);
});

test.each([
  { inputs: { 'working-directory': 'none' }, says: 'no folder "none"' },
  { inputs: { args: '--filter "a b' }, says: 'a quote that is not closed' },
  {
    inputs: { judge: 'maybe' },
    says: '--judge: "maybe" cannot be used: Allowed choices are live, recorded, off [OPTION_INVALID]',
  },
])('a wrong input is reported with verdict 2: $inputs', async ({ inputs, says }) => {
  const { code, log } = await runAction(
    project('ok'),
    { traces: 'traces.jsonl', ...inputs } as unknown as Record<string, string>,
    'http://127.0.0.1:1',
  );
  expect({ code, log }).toMatchObject({ code: 2, log: expect.stringContaining(says) });
});

test('judge, tags and args reach agentci as they were typed', async () => {
  const cwd = project('ok');
  writeFileSync(join(cwd, 'agentci'), '#!/usr/bin/env bash\nprintf "<%s>" "$@"\n');
  const inputs = {
    judge: 'off',
    tags: 'smoke,slow',
    args: `-n 3 --filter 'two words' "" $(touch hacked)`,
  };
  const { log } = await runAction(cwd, { ...inputs, comment: 'false' }, 'http://127.0.0.1:1');
  expect(log).toContain(
    '<--judge><off><--tags><smoke,slow><-n><3><--filter><two words><><$(touch><hacked)>',
  );
});

test('agentci is installed only if neither the project nor a parent has it', () => {
  const npm = '#!/usr/bin/env bash\necho "npm $@ in $PWD"\n';
  const install = (cwd: string, dir: string) =>
    execFileSync(process.execPath, [join(root, 'scripts/action/install.mjs')], {
      cwd,
      encoding: 'utf8',
      env: {
        PATH: `${join(cwd, 'bin')}:${process.env.PATH}`,
        GITHUB_WORKSPACE: cwd,
        INPUT_WORKING_DIRECTORY: dir,
        AGENTCI_VERSION: '1.2.3',
      },
    });
  const cwd = tempDir({
    'bin/npm': npm,
    'a/x': '',
    'b/node_modules/.bin/agentci': '',
    'b/c/x': '',
  });
  chmodSync(join(cwd, 'bin/npm'), 0o755);
  expect(install(cwd, 'a')).toMatch(
    /^npm install --no-save .*@agentci\/agentci@1\.2\.3 in .*\/a\n$/,
  );
  expect(install(cwd, 'b')).toBe('');
  expect(install(cwd, 'b/c')).toBe('');
});

test('the page on CI names every input, and the versions of Node and Python are in the right steps', () => {
  const page = readFileSync(join(root, 'docs/guide/ci.md'), 'utf8');
  for (const name of Object.keys(action.inputs)) expect(page).toContain(`\`${name}\``);
  const steps = JSON.stringify(action.runs.steps);
  expect(steps).toContain('"node-version":"${{ inputs.node-version }}"');
  expect(steps).toContain('"python-version":"${{ inputs.python-version }}"');
});

test('every action of others is named by its commit, in the action, the docs and what init writes', async () => {
  const cwd = tempDir();
  await cli(['init', '--yes', '--ci', 'github'], { cwd });
  const texts = [
    readFileSync(join(root, 'action.yml'), 'utf8'),
    readFileSync(join(root, 'docs/guide/ci.md'), 'utf8'),
    readFileSync(join(cwd, '.github/workflows/agentci.yml'), 'utf8'),
  ];
  for (const text of texts) {
    const used = [...text.matchAll(/uses: *(.*)$/gm)]
      .map(([, name]) => name!)
      .filter((name) => !/^agentci\//.test(name));
    expect(used.length).toBeGreaterThan(0);
    for (const name of used)
      expect(name).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

test('reports of an earlier step do not pass for those of a run that could not start', async () => {
  const cwd = project('ok');
  const comments: Comment[] = [];
  const api = await github(comments);
  expect((await runAction(cwd, { traces: 'traces.jsonl' }, api)).code).toBe(0);
  expect(comments[0]?.body).toContain('1 passed');
  const { code, outputs } = await runAction(cwd, { traces: 'gone.jsonl' }, api);
  expect(code).toBe(2);
  expect(outputs).toMatchObject({
    'exit-code': '2',
    verdict: '2',
    results: '',
    sarif: '',
    report: '',
  });
  expect(comments).toHaveLength(1);
  expect(comments[0]?.body).toContain('AgentCI could not run (exit 2)');
  expect((await runAction(cwd, { traces: 'traces.jsonl' }, api)).code).toBe(0);
  expect(comments).toHaveLength(1);
  expect(comments[0]?.body).toContain('1 passed');
});

test('arguments that check nothing give no verdict', async () => {
  const { code, log } = await runAction(
    project('ok'),
    { args: '--help', comment: 'false' },
    'http://127.0.0.1:1',
  );
  expect(code).toBe(2);
  expect(log).toContain('::error title=AgentCI::agentci test made no results');
});

test.each(Object.keys(SLOW_SERVERS) as (keyof typeof SLOW_SERVERS)[])(
  'an API that %s does not hold the job',
  async (how) => {
    await using server = await serveSlowly(how);
    using _garbage = collectGarbage();
    const { fetchJson } = (await import(join(root, 'scripts/action/fetch-json.mjs'))) as {
      fetchJson: (url: string, options: object) => Promise<unknown>;
    };
    await expect(fetchJson(server.url, { token: 't', timeoutMs: 300 })).rejects.toThrow(
      'no answer to GET within 0.3 s',
    );
  },
);
