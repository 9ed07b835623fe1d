import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const spec = `version: 1
agent: demo
queries:
  - id: good
    query: first
    tags: [smoke]
    correctness:
      expected_in_answer: [ok]
  - id: slow
    query: second
    path:
      max_tool_calls: 1
  - id: bad
    query: third
    correctness:
      not_in_answer: [secret]
`;
const traces = [
  { id: 'good', query: 'first', answer: 'all ok', latency_ms: 10 },
  {
    id: 'slow',
    query: 'second',
    answer: 'x',
    tool_calls: [{ name: 'a' }, { name: 'b' }],
    latency_ms: 90,
  },
  { id: 'bad', query: 'third', answer: 'the secret\n::error file=x::forged' },
]
  .map((trace) => JSON.stringify(trace))
  .join('\n');
const project = () => tempDir({ 'agentci_spec.yaml': spec, 'traces.jsonl': traces });
const json = (stdout: string) =>
  JSON.parse(stdout) as { summary: object; results: { id: string; status: string }[] };

describe('agentci test', () => {
  test('a pass, a warning and a failure: exit 1, each with its number and its line', async () => {
    const { code, stdout, stderr } = await cli(['test', '--traces', 'traces.jsonl'], {
      cwd: project(),
    });
    expect(code).toBe(1);
    expect(stderr).toBe('');
    expect(stdout).toContain('✓ pass  good');
    expect(stdout).toMatch(/! max_tool_calls: tool calls: 2, limit 1 {2}agentci_spec\.yaml:12:7/);
    expect(stdout).toMatch(/✗ not_in_answer: .*"secret" {2}agentci_spec\.yaml:16:7/);
    expect(stdout).toContain('3 queries: 1 passed, 1 warned, 1 failed');
    expect(stdout).toContain('agentci test --traces traces.jsonl --failed');
  });

  test('the JSON report is exactly one document, even on GitHub', async () => {
    const { code, stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', 'json'], {
      cwd: project(),
      env: { GITHUB_ACTIONS: 'true' },
    });
    expect(code).toBe(1);
    expect(stdout).not.toMatch(/^::/m);
    expect(json(stdout)).toMatchObject({
      schema: 'agentci.results/1',
      agent: 'demo',
      summary: {
        total: 3,
        passed: 2,
        warnings: 1,
        failed: 1,
        errors: 0,
        skipped: 0,
        xfailed: 0,
        exit_code: 1,
      },
    });
  });

  test('annotations point at the line of the check, and an answer cannot forge one', async () => {
    const { stdout } = await cli(['test', '--traces', 'traces.jsonl'], {
      cwd: project(),
      env: { GITHUB_ACTIONS: 'true' },
    });
    const commands = stdout.split('\n').filter((line) => line.startsWith('::'));
    expect(commands).toHaveLength(2);
    expect(commands[0]).toMatch(
      /^::error file=agentci_spec\.yaml,line=16,col=7,title=correctness\.not_in_answer::\[CORRECTNESS\] third: /,
    );
    expect(commands[1]).toMatch(
      /^::warning file=agentci_spec\.yaml,line=12,col=7,title=path\.max_tool_calls::\[PATH\] second: /,
    );
  });

  test('annotations name files from the root of the checkout', async () => {
    const root = tempDir({ 'sub/agentci_spec.yaml': spec, 'sub/traces.jsonl': traces });
    const { stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', 'github'], {
      cwd: join(root, 'sub'),
      env: { GITHUB_WORKSPACE: root },
    });
    expect(stdout).toMatch(/^::error file=sub\/agentci_spec\.yaml,/);
  });

  test('several reports at once', async () => {
    const cwd = project();
    const { code, stdout } = await cli(
      [
        'test',
        '--traces',
        'traces.jsonl',
        '-f',
        'console',
        '-f',
        'json=out/r.json',
        '-o',
        'r2.json',
      ],
      { cwd },
    );
    expect(code).toBe(1);
    expect(stdout).toContain('failed (exit 1)');
    expect(readFileSync(join(cwd, 'out/r.json'), 'utf8')).toBe(
      readFileSync(join(cwd, 'r2.json'), 'utf8'),
    );
  });

  test('a report that cannot be written is named, the others are made, and the run is not green', async () => {
    const cwd = project();
    const args = [
      'test',
      '--traces',
      'traces.jsonl',
      '--filter',
      'good',
      '-f',
      'csv=agentci_spec.yaml/x.csv',
      '-f',
      'json=r.json',
    ];
    const { code, stderr } = await cli(args, { cwd });
    expect(stderr).toContain('the csv report could not be written');
    expect(existsSync(join(cwd, 'r.json'))).toBe(true);
    expect(code).toBe(2);
  });

  test('tags, filters and --failed select the judged queries', async () => {
    const cwd = project();
    const ids = async (...args: string[]) => {
      const { stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', 'json', ...args], {
        cwd,
      });
      return json(stdout).results.map(({ id }) => id);
    };
    expect(await ids('-t', 'smoke')).toEqual(['good']);
    expect(await ids('--filter', 'SECOND')).toEqual(['slow']);
    expect(await ids()).toEqual(['good', 'slow', 'bad']);
    expect(await ids('--failed')).toEqual(['bad']);
  });

  test('--strict turns a warning into exit 1', async () => {
    const cwd = project();
    expect(
      (await cli(['test', '--traces', 'traces.jsonl', '--filter', 'slow'], { cwd })).code,
    ).toBe(0);
    expect(
      (await cli(['test', '--traces', 'traces.jsonl', '--filter', 'slow', '--strict'], { cwd }))
        .code,
    ).toBe(1);
  });

  test('--quiet says only what failed, and the summary', async () => {
    const { stdout } = await cli(['test', '--traces', 'traces.jsonl', '--quiet'], {
      cwd: project(),
    });
    expect(stdout).not.toContain('slow');
    expect(stdout).toContain('✗ fail  bad');
  });

  test('a stored run can be judged again with another spec, without the agent', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': `version: 1\nagent: demo\nrunner: {command: [${process.execPath}, -e, "console.log('ok')"]}\nqueries:\n  - {id: a, query: q, correctness: {expected_in_answer: [ok]}}\n`,
      'other.yaml': `version: 1\nagent: demo\nqueries:\n  - {id: a, query: q, correctness: {expected_in_answer: [nope]}}\n`,
    });
    const first = await cli(['test', '-f', 'json'], { cwd });
    expect(first.code).toBe(0);
    const { run_id } = JSON.parse(first.stdout) as { run_id: string };
    expect(existsSync(join(cwd, '.agentci/runs', run_id, 'run.json'))).toBe(true);
    expect((await cli(['eval', '--run', run_id], { cwd })).code).toBe(0);
    expect((await cli(['eval', '--run', run_id, '-c', 'other.yaml'], { cwd })).code).toBe(1);
  });
});

describe('mistakes on the command line exit 2 and say the way out', () => {
  test.each([
    {
      what: 'no recordings and no runner',
      args: ['test'],
      says: /no runner .*\[NO_RUNNER\]\n {2}hint: Pass --traces FILE/s,
    },
    {
      what: 'nothing selected',
      args: ['test', '--traces', 'traces.jsonl', '-t', 'smok'],
      says: /NOTHING_SELECTED.*smoke/s,
    },
    {
      what: '--failed before any run',
      args: ['test', '--traces', 'traces.jsonl', '--failed'],
      says: /NO_PREVIOUS_RUN/,
    },
    {
      what: '--resume with nothing to resume',
      args: ['test', '--traces', 'traces.jsonl', '--resume'],
      says: /RESUME_REFUSED/,
    },
    {
      what: 'a baseline that does not exist',
      args: ['test', '--traces', 'traces.jsonl', '--baseline', 'v9'],
      says: /BASELINE_MISSING/,
    },
    { what: 'a spec that does not exist', args: ['test', '-c', 'nope.yaml'], says: /nope\.yaml/ },
    {
      what: 'recordings that do not exist',
      args: ['test', '--traces', 'nope.jsonl'],
      says: /TRACES_MISSING/,
    },
    {
      what: 'an unknown flag',
      args: ['test', '--tracs', 'x'],
      says: /unknown option '--tracs'.*--traces/s,
    },
    {
      what: 'an unknown command',
      args: ['tets'],
      says: /unknown command "tets"; did you mean "test"\?/,
    },
    { what: 'no command', args: [], says: /--help/ },
    {
      what: 'an unknown report format',
      args: ['test', '--traces', 'traces.jsonl', '-f', 'jsn'],
      says: /"jsn".*did you mean "json"/is,
    },
    {
      what: 'two documents on stdout',
      args: ['test', '--traces', 'traces.jsonl', '-f', 'json', '-f', 'console'],
      says: /OPTIONS_CONFLICT.*json=/s,
    },
    {
      what: 'a baseline folder that does not exist',
      args: ['test', '--traces', 'traces.jsonl', '--baseline-dir', 'nope'],
      says: /FILE_MISSING/,
    },
    {
      what: 'a report without the name of its file',
      args: ['test', '--traces', 'traces.jsonl', '-f', 'json='],
      says: /OPTION_INVALID.*-f json\n/s,
    },
    {
      what: 'a timeout no timer can keep',
      args: ['test', '--timeout', '99999999m'],
      says: /--timeout.*at most a day/s,
    },
    {
      what: 'a number that is none',
      args: ['test', '--workers', 'many'],
      says: /--workers.*whole number/s,
    },
    { what: 'a run that does not exist', args: ['eval', '--run', 'r1'], says: /RUN_MISSING/ },
    { what: 'eval without recordings', args: ['eval'], says: /TRACES_MISSING/ },
    {
      what: 'a file that is not a recording',
      args: ['test', '--traces', 'agentci_spec.yaml'],
      says: /./,
    },
  ])('$what', async ({ args, says }) => {
    const { code, stdout, stderr } = await cli(args, { cwd: project() });
    expect(code).toBe(2);
    expect(`${stderr}${stdout}`).toMatch(says);
    expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  });
});

describe('help', () => {
  test('tells the story in one screen', async () => {
    const { code, stdout } = await cliProcess(['--help'], { cwd: tempDir() });
    expect(code).toBe(0);
    expect(stdout.split('\n').length).toBeLessThanOrEqual(40);
    expect(stdout.split('\n').every((line) => line.length <= 110)).toBe(true);
  });

  test.each(['test', 'eval', 'validate'])('%s explains itself with an example', async (name) => {
    const { code, stdout } = await cli([name, '--help'], { cwd: tempDir() });
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples?:\\n {2}agentci ${name} `));
  });

  test('--version prints the version and nothing else', async () => {
    expect((await cliProcess(['--version'], { cwd: tempDir() })).stdout).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });
});
