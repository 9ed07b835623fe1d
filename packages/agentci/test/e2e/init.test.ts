import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const read = (cwd: string, path: string) => readFileSync(join(cwd, path), 'utf8');

test('without any question: a spec that is valid, a recording it passes on, a workflow', async () => {
  const cwd = tempDir({
    'package.json': { name: '@acme/docs-bot', dependencies: { '@langchain/langgraph': '1' } },
    'pnpm-lock.yaml': '',
  });
  const { code, stdout } = await cli(['init'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('found LangGraph, javascript, pnpm');
  expect(stdout).toContain('✓ agentci_spec.yaml: valid, agent "docs-bot"');
  expect((await cli(['test'], { cwd })).code).toBe(0);
  const workflow = load(read(cwd, '.github/workflows/agentci.yml')) as {
    jobs: { evaluate: { steps: { run?: string }[] } };
  };
  const runs = workflow.jobs.evaluate.steps.flatMap(({ run }) => run ?? []).join('\n');
  expect(runs).toMatch(/pnpm install[\s\S]*agentci validate agentci_spec\.yaml[\s\S]*agentci test/);
});

test('only the runs are ignored by git, once', async () => {
  const cwd = tempDir({ '.gitignore': 'node_modules' });
  await cli(['init'], { cwd });
  await cli(['init', '--force'], { cwd });
  expect(read(cwd, '.gitignore')).toBe('node_modules\n.agentci/runs/\n');
});

const SPEC =
  'version: 1\nagent: mine\nqueries: [{query: Hi, correctness: {expected_in_answer: [Hi]}}]\n';

test('an existing spec is kept, and only a job is written next to it', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': SPEC });
  const first = await cli(['init'], { cwd });
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toMatch(
    /kept agentci_spec\.yaml[\s\S]*wrote \.github\/workflows\/agentci\.yml/,
  );
  expect(existsSync(join(cwd, 'traces'))).toBe(false);
  expect((await cli(['init', '--ci', 'gitlab'], { cwd })).code).toBe(0);
  expect(read(cwd, 'agentci_spec.yaml')).toBe(SPEC);
});

test('in a subfolder of a repository the job is at its root and runs in the subfolder', async () => {
  const root = tempDir();
  const cwd = join(root, 'services', 'bot');
  mkdirSync(join(root, '.git'));
  mkdirSync(cwd, { recursive: true });
  const { code, stdout } = await cli(['init', '--runner', 'replay'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain(
    'note: the job is at the root of the repository, and runs in services/bot',
  );
  const job = load(read(root, '.github/workflows/agentci-services-bot.yml')) as {
    jobs: { evaluate: { defaults: unknown } };
  };
  expect(job.jobs.evaluate.defaults).toEqual({ run: { 'working-directory': 'services/bot' } });
  expect(existsSync(join(cwd, '.github'))).toBe(false);
});

test('a GitLab job is included, or the output explains how', async () => {
  const cwd = tempDir();
  await cli(['init', '--ci', 'gitlab'], { cwd });
  expect(load(read(cwd, '.gitlab-ci.yml'))).toEqual({
    include: [{ local: '.gitlab-ci.agentci.yml' }],
  });
  const other = tempDir({ '.gitlab-ci.yml': 'stages: [test]\n' });
  const { stdout } = await cli(['init', '--ci', 'gitlab'], { cwd: other });
  expect(stdout).toContain(
    'add it to .gitlab-ci.yml, or the job never runs: include: [{local: .gitlab-ci.agentci.yml}]',
  );
  expect(read(other, '.gitlab-ci.yml')).toBe('stages: [test]\n');
});

test('a folder in the place of a file is refused, with --force too', async () => {
  const cwd = tempDir();
  mkdirSync(join(cwd, 'agentci_spec.yaml'));
  for (const flags of [[], ['--force']])
    expect(await cli(['init', ...flags], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('FILE_IS_FOLDER'),
    });
});

test('nothing is written over without --force, and nothing else is written then', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': 'mine', '.github/workflows/agentci.yml': 'mine' });
  const { code, stderr } = await cli(['init'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('FILE_EXISTS');
  expect(read(cwd, 'agentci_spec.yaml')).toBe('mine');
  expect(existsSync(join(cwd, 'traces'))).toBe(false);
  expect((await cli(['init', '--force'], { cwd })).code).toBe(0);
});

interface Workflow {
  readonly jobs: {
    readonly evaluate: {
      readonly strategy?: { readonly matrix: object };
      readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
    };
  };
}

const workflowOf = (cwd: string) => load(read(cwd, '.github/workflows/agentci.yml')) as Workflow;
const commandsOf = (cwd: string) =>
  workflowOf(cwd)
    .jobs.evaluate.steps.flatMap(({ run }) => run?.split('\n') ?? [])
    .filter(Boolean);

/**
 * A PATH with only these programs. Links to the real Python, because the PATH may have a wrapper.
 */
function pathWith(...programs: ('node' | 'python3')[]): string {
  const dir = tempDir();
  const python = () =>
    execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
      encoding: 'utf8',
    }).trim();
  for (const name of programs)
    symlinkSync(name === 'node' ? process.execPath : python(), join(dir, name));
  return dir;
}

describe('the starter agent runs as it is, and init ends with its verdict', () => {
  test.each<{
    when: string;
    files: Record<string, string | object>;
    path: ('node' | 'python3')[];
    agent: string;
    runs: string;
  }>([
    {
      when: 'an empty folder with Python',
      files: {},
      path: ['node', 'python3'],
      agent: 'agent.py',
      runs: '[python3,',
    },
    {
      when: 'an empty folder without Python',
      files: {},
      path: ['node'],
      agent: 'agent.mjs',
      runs: '[node,',
    },
    {
      when: 'a Node project with Python on the machine',
      files: { 'package.json': { name: 'bot' } },
      path: ['node', 'python3'],
      agent: 'agent.mjs',
      runs: '[node,',
    },
    {
      when: 'a Python project',
      files: { 'pyproject.toml': '[project]\n' },
      path: ['node', 'python3'],
      agent: 'agent.py',
      runs: '[python3,',
    },
  ])('--runner command in $when', async ({ files, path, agent, runs }) => {
    const cwd = tempDir(files);
    const { code, stdout } = await cli(['init', '--runner', 'command', '--agent', 'bot'], {
      cwd,
      env: { PATH: pathWith(...path) },
    });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 query: 1 passed'),
    });
    expect(stdout).toContain(`wrote ${agent}`);
    expect(read(cwd, 'agentci_spec.yaml')).toContain(`command: ${runs} ${agent}]`);
    expect(stdout).toContain('this folder is not in a git repository yet');
  });

  test('--language chooses, and reports a missing Python with exit code 2', async () => {
    const cwd = tempDir();
    const { code, stdout } = await cli(['init', '--runner', 'command', '--language', 'python'], {
      cwd,
      env: { PATH: pathWith('node') },
    });
    expect(code).toBe(2);
    expect(stdout).toContain('"python3" could not be started');
    expect((await cli(['doctor'], { cwd, env: { PATH: pathWith('node') } })).code).toBe(1);
  });

  test.each([
    {
      when: 'a JavaScript project',
      files: { 'package.json': { name: 'bot' } },
      agent: 'agent.mjs',
    },
    {
      when: 'a TypeScript project',
      files: { 'package.json': { name: 'bot' }, 'tsconfig.json': {} },
      agent: 'agent.ts',
    },
    { when: 'an empty folder', files: {}, agent: 'agent.mjs' },
  ])('--runner module in $when', async ({ files, agent }) => {
    const cwd = tempDir(files);
    const { code, stdout } = await cli(['init', '--runner', 'module', '--agent', 'bot'], { cwd });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 query: 1 passed'),
    });
    expect(stdout).toContain(`wrote ${agent}`);
  });

  test('an agent that is there already is kept, even with --force, and not started', async () => {
    const own = 'import sys; open("started", "w").close()\n';
    const cwd = tempDir({ 'agent.py': own, 'requirements.txt': '' });
    const { code, stdout } = await cli(['init', '--runner', 'command', '--force'], { cwd });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('kept agent.py'),
    });
    expect(read(cwd, 'agent.py')).toBe(own);
    expect(existsSync(join(cwd, 'started'))).toBe(false);
    expect(stdout).toContain('next: npx agentci doctor, then npx agentci test');
  });

  test('an agent over HTTP is not there yet, so only the spec is checked', async () => {
    const cwd = tempDir({ 'requirements.txt': 'crewai==1\n' });
    const { code, stdout } = await cli(
      ['init', '--runner', 'http', '--ci', 'none', '--agent', 'bot'],
      { cwd },
    );
    expect(code).toBe(0);
    expect(stdout).toContain('found CrewAI, python');
    expect(stdout).toContain('next: npx agentci doctor');
    expect(existsSync(join(cwd, '.github'))).toBe(false);
  });
});

describe('the CI job installs what the project has', () => {
  const AGENTCI = { devDependencies: { '@agentci/agentci': '*' } };
  test.each([
    { lock: 'package-lock.json', text: '{}', install: 'npm ci' },
    { lock: 'pnpm-lock.yaml', text: '', install: 'pnpm install --frozen-lockfile' },
    { lock: 'yarn.lock', text: '', install: 'yarn install --immutable' },
    { lock: 'yarn.lock', text: '# yarn lockfile v1\n', install: 'yarn install --frozen-lockfile' },
    { lock: 'bun.lock', text: '', install: 'bun install --frozen-lockfile' },
  ])('$lock: $install', async ({ lock, text, install }) => {
    const cwd = tempDir({ 'package.json': { name: 'bot', ...AGENTCI }, [lock]: text });
    const { stdout } = await cli(['init'], { cwd });
    const commands = commandsOf(cwd);
    expect(commands).toContain(install);
    expect(stdout).not.toContain('lock file');
    // The job's checks pass here, and fail without the lock file or the dependency.
    const check = commands.filter((line) => /^(?:grep|test) /.test(line)).join('\n');
    const passes = () => spawnSync('sh', ['-e', '-c', check], { cwd }).status === 0;
    expect(passes()).toBe(true);
    rmSync(join(cwd, lock));
    expect(passes()).toBe(false);
    writeFileSync(join(cwd, lock), '');
    writeFileSync(join(cwd, 'package.json'), '{}');
    expect(passes()).toBe(false);
  });

  test('without a lock file npm installs, and the missing file is reported', async () => {
    const cwd = tempDir({ 'package.json': { name: 'bot' } });
    const { stdout } = await cli(['init'], { cwd });
    expect(commandsOf(cwd)).toContain('npm install');
    expect(commandsOf(cwd)).not.toContain('npm ci');
    expect(stdout).toContain(
      'note: @agentci/agentci is not a dependency yet: npm install --save-dev @agentci/agentci',
    );
    expect(stdout).toContain('note: no lock file');
  });

  test('without a package.json AgentCI is installed by itself, in its own version', async () => {
    const cwd = tempDir({ 'requirements.txt': 'crewai==1\n' });
    await cli(['init', '--runner', 'command'], { cwd });
    const commands = commandsOf(cwd);
    expect(
      commands.some((line) => /^npm install --no-save @agentci\/agentci@\d+\.\d+\.\d+$/.test(line)),
    ).toBe(true);
    expect(commands).toContain('pip install -r requirements.txt');
    expect(
      workflowOf(cwd).jobs.evaluate.steps.some(({ uses }) =>
        uses?.startsWith('actions/setup-python@'),
      ),
    ).toBe(true);
  });

  test.each(['github', 'gitlab'])('recorded calls need no key: %s', async (ci) => {
    const cwd = tempDir({ 'cassettes/bot/q.jsonl': '' });
    await cli(['init', '--ci', ci], { cwd });
    const text = read(
      cwd,
      ci === 'github' ? '.github/workflows/agentci.yml' : '.gitlab-ci.agentci.yml',
    );
    expect(text).toContain('agentci test -c agentci_spec.yaml --cassette replay');
    expect(text).not.toContain('API_KEY');
  });

  test('agentci is always the one that was installed', async () => {
    for (const ci of ['github', 'gitlab']) {
      const cwd = tempDir();
      await cli(['init', '--ci', ci], { cwd });
      const text = read(
        cwd,
        ci === 'github' ? '.github/workflows/agentci.yml' : '.gitlab-ci.agentci.yml',
      );
      expect(text.match(/agentci (?:validate|test)/g)).toHaveLength(2);
      expect(text.match(/npx --no-install agentci (?:validate|test)/g)).toHaveLength(2);
    }
  });

  test.each([
    { runner: 'command', language: 'python', image: /^python:/, first: /nodejs npm$/ },
    { runner: 'command', language: 'node', image: /^node:/, first: /^npm install/ },
  ])('--ci gitlab with an agent in $language', async ({ runner, language, image, first }) => {
    const cwd = tempDir();
    await cli(['init', '--ci', 'gitlab', '--runner', runner, '--language', language], { cwd });
    const { agentci } = load(read(cwd, '.gitlab-ci.agentci.yml')) as {
      agentci: { image: string; script: string[]; artifacts: { reports: object } };
    };
    expect(agentci.image).toMatch(image);
    expect(agentci.script[0]).toMatch(first);
    expect(agentci.artifacts.reports).toEqual({ junit: 'agentci-results.xml' });
  });
});

test.each(['github', 'gitlab'])(
  '--matrix with --ci %s writes every spec, and all of them pass',
  async (ci) => {
    const cwd = tempDir({ 'package.json': { name: 'x' }, 'package-lock.json': '{}' });
    const { code, stdout } = await cli(
      ['init', '--ci', ci, '--runner', 'module', '--matrix', 'rag,support-router'],
      {
        cwd,
      },
    );
    expect({ code, stdout }).toMatchObject({ code: 0 });
    for (const name of ['rag', 'support-router']) {
      expect(read(cwd, `agents/${name}/agentci_spec.yaml`)).toContain(`agent: ${name}\n`);
      expect((await cli(['test', '-c', `agents/${name}/agentci_spec.yaml`], { cwd })).code).toBe(0);
    }
    expect(read(cwd, '.gitignore')).toBe('agents/*/.agentci/runs/\n');
    if (ci === 'github') {
      expect(workflowOf(cwd).jobs.evaluate.strategy?.matrix).toEqual({
        agent: ['rag', 'support-router'],
      });
      expect(
        commandsOf(cwd).some((line) =>
          line.includes('agents/${{ matrix.agent }}/agentci_spec.yaml'),
        ),
      ).toBe(true);
    } else {
      const job = load(read(cwd, '.gitlab-ci.agentci.yml')) as {
        agentci: { parallel: object; script: string[] };
      };
      expect(job.agentci.parallel).toEqual({ matrix: [{ AGENT: ['rag', 'support-router'] }] });
      expect(job.agentci.script.at(-1)).toContain('agents/$AGENT/agentci_spec.yaml');
    }
  },
);

interface KeepingStep extends Step {
  readonly with?: {
    readonly path?: string;
    readonly key?: string;
    readonly 'restore-keys'?: string;
  };
}

/** Paths a job keeps between pipelines, and the command that prunes them. */
function keptBy(cwd: string, ci: string): { paths: string[]; trim: string; test: string } {
  if (ci === 'github') {
    const steps = workflowOf(cwd).jobs.evaluate.steps as readonly KeepingStep[];
    const of = (what: string) =>
      steps.find(({ uses }) => uses?.startsWith(`actions/cache/${what}@`))!.with!;
    expect(of('save').path).toBe(of('restore').path);
    const prefix = of('restore')['restore-keys']!.replace(
      'github.base_ref || github.ref_name',
      'github.ref_name',
    );
    expect(of('save').key!.startsWith(prefix)).toBe(true);
    const run = (word: string) => steps.find((step) => step.run?.includes(word))!.run!;
    return {
      paths: of('save').path!.trim().split('\n'),
      trim: run('rm -rf'),
      test: run('agentci test'),
    };
  }
  const { agentci } = load(read(cwd, '.gitlab-ci.agentci.yml')) as {
    agentci: { cache: { paths: string[] }; after_script: string[]; script: string[] };
  };
  return {
    paths: agentci.cache.paths,
    trim: agentci.after_script[0]!,
    test: agentci.script.at(-1)!,
  };
}

test.each([
  { ci: 'github', env: { GITHUB_BASE_REF: 'main', GITHUB_HEAD_REF: 'topic' } },
  {
    ci: 'gitlab',
    env: { CI_DEFAULT_BRANCH: 'main', CI_COMMIT_BRANCH: 'topic', CI_COMMIT_REF_NAME: 'topic' },
  },
])(
  '--ci $ci: what the job keeps of the base branch is what the next report compares with',
  async ({ ci, env }) => {
    const cwd = tempDir();
    await cli(['init', '--ci', ci, '--runner', 'module'], { cwd });
    const { paths, trim, test: line } = keptBy(cwd, ci);
    expect(paths).toEqual(['.agentci/runs', '.agentci/history', '.agentci/timings.json']);
    const perform = (of: Record<string, string | undefined>) =>
      cli(line.split(' agentci ')[1]!.split(' '), { cwd, env: { ...of, GITHUB_STEP_SUMMARY: '' } });
    for (const _ of [1, 2]) await perform({ AGENTCI_BRANCH: 'main' });
    const last = readdirSync(join(cwd, '.agentci/runs')).sort().at(-1);
    execFileSync('sh', ['-c', trim], { cwd });
    expect(readdirSync(join(cwd, '.agentci/runs'))).toEqual([last]);
    expect((await perform(env)).code).toBe(0);
    expect(read(cwd, 'agentci-report.html')).toContain('No verdict flipped.');
    if (ci === 'github') expect(read(cwd, 'agentci-summary.md')).toContain(`against ${last}`);
  },
);

test.each([
  ['github', ''],
  ['gitlab', 'bot'],
])(
  '--shards with --ci %s: every shard gets the timings that one job took from the cache',
  async (ci, folder) => {
    const root = tempDir({ '.git/HEAD': '', [join(folder, 'package.json')]: { name: 'x' } });
    const cwd = join(root, folder);
    await cli(['init', '--ci', ci, '--runner', 'module', '--shards', '2'], { cwd });
    const timings = join(folder, '.agentci/timings.json');
    let lines: string[];
    if (ci === 'github') {
      const { jobs } = load(read(root, '.github/workflows/agentci.yml')) as {
        jobs: Record<
          string,
          { needs?: string; steps: (KeepingStep & { with?: { name?: string } })[] }
        >;
      };
      const of = (job: string, action: string) =>
        jobs[job]!.steps.find(({ uses }) => uses?.startsWith(`actions/${action}@`))!;
      expect(jobs.shard!.needs).toBe('plan');
      expect(of('plan', 'cache/restore').with).toEqual(of('merge', 'cache/restore').with);
      expect(of('plan', 'upload-artifact').with).toMatchObject({
        name: 'agentci-timings',
        path: timings,
      });
      expect(of('shard', 'download-artifact').with).toEqual({
        name: 'agentci-timings',
        path: '.agentci',
      });
      expect(jobs.shard!.steps.some(({ uses }) => uses?.includes('cache'))).toBe(false);
      lines = jobs.plan!.steps.flatMap(({ run }) => run ?? []);
    } else {
      const jobs = load(read(root, '.gitlab-ci.agentci-bot.yml')) as Record<
        string,
        {
          needs?: string[];
          script: string[];
          cache?: { key: string; paths: string[] };
          artifacts: { paths: string[] };
        }
      >;
      const {
        'agentci-bot-plan': plan,
        'agentci-bot-shard': shard,
        'agentci-bot-merge': merge,
      } = jobs;
      expect(shard).toMatchObject({ needs: ['agentci-bot-plan'] });
      expect(shard!.cache).toBeUndefined();
      expect(plan!.cache).toMatchObject({
        key: merge!.cache!.key,
        paths: merge!.cache!.paths,
        policy: 'pull',
      });
      expect(plan!.artifacts.paths).toEqual([timings]);
      lines = plan!.script;
    }
    const script = lines.join('\n');
    rmSync(join(cwd, '.agentci'), { recursive: true, force: true });
    execFileSync('sh', ['-e', '-c', script], { cwd: root });
    const { code, stderr } = await cli(['test', '--shard', '1/2', '--dry-run'], { cwd });
    expect(code, stderr).toBe(0);
    expect(read(root, timings)).toBe('{"schema":"agentci.timings/1","ms":{}}\n');
    // The cached file stays unchanged.
    writeFileSync(join(root, timings), '{"schema":"agentci.timings/1","ms":{"a":5}}');
    execFileSync('sh', ['-e', '-c', script], { cwd: root });
    expect(read(root, timings)).toContain('"a":5');
  },
);

interface ShardJobs {
  readonly shard: { readonly commands: string[]; readonly upload: string };
  readonly merge: {
    readonly commands: string[];
    readonly isAlways: boolean;
    readonly needs: unknown;
  };
  readonly numbers: number[];
}

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: { readonly path?: string };
}

/** The commands of the CI jobs with the shard number inserted. */
function shardJobs(cwd: string, ci: string, folder: string): ShardJobs {
  if (ci === 'github') {
    const name = folder === '' ? 'agentci' : `agentci-${folder}`;
    const { jobs } = load(read(cwd, `.github/workflows/${name}.yml`)) as {
      jobs: Record<
        'shard' | 'merge',
        {
          steps: Step[];
          if?: string;
          needs?: string;
          strategy: { 'fail-fast': boolean; matrix: { shard: number[] } };
        }
      >;
    };
    expect(jobs.shard.strategy['fail-fast']).toBe(false);
    const commands = (steps: Step[]) => steps.flatMap(({ run }) => run ?? []);
    return {
      shard: {
        commands: commands(jobs.shard.steps),
        upload: jobs.shard.steps.find(({ uses }) => uses?.includes('upload-artifact'))!.with!.path!,
      },
      merge: {
        commands: commands(jobs.merge.steps),
        isAlways: jobs.merge.if === 'always()',
        needs: jobs.merge.needs,
      },
      numbers: jobs.shard.strategy.matrix.shard,
    };
  }
  const name = folder === '' ? 'agentci' : `agentci-${folder}`;
  const jobs = load(read(cwd, `.gitlab-ci.${name}.yml`)) as Record<
    string,
    {
      script: string[];
      parallel: number;
      rules?: { when: string }[];
      needs?: string[];
      artifacts: { paths: string[] };
    }
  >;
  const { [`${name}-shard`]: shard, [`${name}-merge`]: merge } = jobs;
  return {
    shard: { commands: shard!.script, upload: shard!.artifacts.paths[0]! },
    merge: {
      commands: merge!.script,
      isAlways: merge!.rules!.every(({ when }) => when === 'always'),
      needs: merge!.needs?.[0]?.replace(`${name}-`, ''),
    },
    numbers: Array.from({ length: shard!.parallel }, (_, i) => i + 1),
  };
}

test.each([
  ['github', ''],
  ['gitlab', ''],
  ['github', 'bot'],
  ['gitlab', 'bot'],
])(
  '--shards with --ci %s writes jobs whose commands make one run, in the folder "%s"',
  async (ci, folder) => {
    const root = tempDir({
      '.git/HEAD': '',
      [join(folder, 'package.json')]: { name: 'x' },
      [join(folder, 'package-lock.json')]: '{}',
    });
    const cwd = join(root, folder);
    expect(
      (await cli(['init', '--ci', ci, '--runner', 'module', '--shards', '3'], { cwd })).code,
    ).toBe(0);
    rmSync(join(cwd, '.agentci'), { recursive: true, force: true });
    const { shard, merge, numbers } = shardJobs(root, ci, folder);
    expect(numbers).toEqual([1, 2, 3]);
    expect(shard.upload).toBe(join(folder, '.agentci/runs'));
    expect(merge).toMatchObject({ isAlways: true, needs: 'shard' });
    const perform = (commands: readonly string[], word: string, n = 0) => {
      const line = commands.find((command) => command.includes(`agentci ${word} `))!;
      const filled = line
        .replace('${{ matrix.shard }}', String(n))
        .replace('$CI_NODE_INDEX/$CI_NODE_TOTAL', `${n}/3`)
        // GitHub downloads shard artifacts here. GitLab restores them to their original path.
        .replace('agentci-shards', '.agentci/runs');
      return cli(filled.split(' agentci ')[1]!.split(' '), { cwd });
    };
    for (const n of numbers)
      expect(await perform(shard.commands, 'test', n)).toMatchObject({ code: 0 });
    const merged = await perform(merge.commands, 'merge');
    expect(merged, merged.stdout + merged.stderr).toMatchObject({ code: 0 });
    const whole = await cli(['test', '-f', 'json'], { cwd });
    const counts = (text: string) => (JSON.parse(text) as { summary: { total: number } }).summary;
    expect(counts(read(cwd, 'agentci-results.json'))).toEqual(counts(whole.stdout));
    expect(counts(whole.stdout).total).toBeGreaterThan(0);
  },
);

test.each([
  ['a matrix', ['--shards', '3', '--matrix', 'a,b'], 'OPTIONS_CONFLICT'],
  ['no CI', ['--shards', '3', '--ci', 'none'], 'OPTIONS_CONFLICT'],
  ['one', ['--shards', '1'], '--shards'],
])('--shards with %s is refused, and nothing is written', async (_, args, text) => {
  const cwd = tempDir();
  const { code, stderr } = await cli(['init', ...args], { cwd });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) });
  expect(existsSync(join(cwd, 'agentci_spec.yaml'))).toBe(false);
});

test('a name that would not be safe in a path is refused', async () => {
  expect((await cli(['init', '--agent', '../x'], { cwd: tempDir() })).stderr).toContain(
    'OPTION_INVALID',
  );
});
