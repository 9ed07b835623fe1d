import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgreementResult, ExperimentResult } from '@agentci/results';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const demo = join(fileURLToPath(import.meta.url), '../../../../../demos/experiment');
const demoDir = (): string => {
  const cwd = tempDir();
  cpSync(demo, cwd, { recursive: true });
  return cwd;
};
const json = (text: string): ExperimentResult => JSON.parse(text) as ExperimentResult;

describe('the demo', () => {
  test('runs without keys, gives every report, and the same numbers twice', async () => {
    const cwd = demoDir();
    const files = ['-o', 'r.html', '-o', 'r.csv', '-o', 'r.md', '-f', 'trials=t.csv', '-f', 'json'];
    const first = await cli(['experiment', 'experiment.yaml', ...files], { cwd });
    expect(first).toMatchObject({ code: 0 });
    const result = json(first.stdout);
    expect(result.conditions.map(({ condition, n }) => [condition, n])).toEqual([
      ['human', 40],
      ['single-agent', 40],
      ['several-agents', 40],
      ['last-month', 19],
    ]);
    expect(result.excluded).toEqual([{ condition: 'last-month', trial: 't07' }]);
    expect(result.conditions[0]!.metrics.dq).toBeUndefined();
    expect(readFileSync(join(cwd, 'r.html'), 'utf8').match(/<svg/g)!.length).toBe(16);
    expect(readFileSync(join(cwd, 'r.csv'), 'utf8')).toContain(
      'pair,single-agent,several-agents,dq,cohens_d,',
    );
    expect(readFileSync(join(cwd, 'r.md'), 'utf8')).toContain('| --- |');
    const again = await cli(['experiment', 'experiment.yaml', '--json', '--quiet'], { cwd });
    expect(again).toMatchObject({ code: 0, stderr: '', stdout: first.stdout });
  });

  test('agreement between raters', async () => {
    const cwd = demoDir();
    const { code, stdout } = await cli(['experiment', 'agreement', 'ratings.csv', '--json'], {
      cwd,
    });
    const result = JSON.parse(stdout) as AgreementResult;
    expect(code).toBe(0);
    expect(result).toMatchObject({ raters: ['ana', 'ben', 'chris'], items: 12 });
    expect(
      result.components.map(({ component, alpha, kappa }) => [
        component,
        alpha.length,
        kappa.length,
      ]),
    ).toEqual([
      ['validity', 3, 3],
      ['specificity', 3, 3],
      ['correctness', 3, 3],
    ]);
    const gate = (least: string) =>
      cli(['experiment', 'agreement', 'ratings.csv', '--level', 'nominal', '--min-alpha', least], {
        cwd,
      });
    expect((await gate('0.99')).code).toBe(1);
    expect((await gate('0.1')).code).toBe(0);
  });
});

test('trials written out as CSV are read in again to the same comparison', async () => {
  const cwd = tempDir({
    'a.jsonl': [
      '{"trial_id": "x", "condition": "a", "t2u": 3, "actions": ["Rollback auth-service to v2.3.0"]}',
      '{"trial_id": "y", "condition": "a", "t2u": 4, "actions": []}',
      '{"trial_id": "z", "condition": "a", "error": "HTTP 500"}',
      '{"trial_id": "w", "condition": "b", "t2u": 9, "actions": ["Investigate"]}',
      '{"trial_id": "v", "condition": "b", "t2u": 8, "actions": ["Rollback deployment"]}',
    ].join('\n'),
    'one.yaml':
      'experiment: one\nground_truth: rollback auth-service\nconditions:\n  a: {data: a.jsonl}\n  b: {data: a.jsonl}\n',
    'two.yaml': 'experiment: two\nconditions:\n  a: {data: t.csv}\n  b: {data: t.csv}\n',
  });
  const one = json(
    (await cli(['experiment', 'one.yaml', '--json', '-f', 'trials=t.csv'], { cwd })).stdout,
  );
  const two = json((await cli(['experiment', 'two.yaml', '--json'], { cwd })).stdout);
  expect(one.conditions[0]).toMatchObject({
    n: 2,
    failed: 1,
    metrics: { dq: { n: 2, max: 1, min: 0 } },
  });
  expect(two.comparisons).toEqual(one.comparisons);
  expect(two.conditions.map(({ metrics }) => metrics)).toEqual(
    one.conditions.map(({ metrics }) => metrics),
  );
});

describe('an agent that is run', () => {
  const TRIALS = 8;
  const project = (body: string) =>
    tempDir({
      'agent.mjs': `import { appendFileSync } from 'node:fs';\nexport default async (query, { run, metadata }) => {\n  appendFileSync('asked.log', run + '\\n');\n  ${body}\n};\n`,
      'e.yaml': `experiment: live\nquery: q\nground_truth: rollback auth-service\ntrials: ${TRIALS}\nconditions:\n  agent: {runner: {module: ./agent.mjs, retries: 0}}\n  base: {simulate: {t2u_s: {mean: 5, sd: 1}}}\n`,
    });
  const asked = (cwd: string): string[] =>
    existsSync(join(cwd, 'asked.log'))
      ? readFileSync(join(cwd, 'asked.log'), 'utf8').trim().split('\n')
      : [];

  test('a killed experiment continues with --resume and asks only the missing trials', async () => {
    const cwd = project(
      "await new Promise((done) => setTimeout(done, 120));\n  return '- Rollback auth-service';",
    );
    const child = spawn(process.execPath, [CLI, 'experiment', 'e.yaml'], { cwd, stdio: 'ignore' });
    const closed = new Promise((resolve) => child.on('close', resolve));
    while (asked(cwd).length < 4) await new Promise((done) => setTimeout(done, 20));
    child.kill('SIGKILL');
    await closed;
    const before = asked(cwd).length;
    expect(before).toBeLessThan(TRIALS);
    const { code, stdout } = await cli(['experiment', 'e.yaml', '--resume', '--json'], { cwd });
    expect(code).toBe(0);
    expect(json(stdout).conditions[0]).toMatchObject({ condition: 'agent', n: TRIALS, failed: 0 });
    // At most the trial in progress at the kill is asked twice.
    expect(asked(cwd).length - TRIALS).toBeLessThanOrEqual(1);
    const third = await cli(['experiment', 'e.yaml', '--resume', '--json'], { cwd });
    expect(third.stdout).toBe(stdout);
  });

  test('an interrupted experiment reports it and exits 130', async () => {
    const cwd = project(
      "await new Promise((done) => setTimeout(done, 120));\n  return '- Rollback auth-service';",
    );
    const child = spawn(process.execPath, [CLI, 'experiment', 'e.yaml', '-o', 'r.json'], {
      cwd,
      stdio: 'ignore',
    });
    const closed = new Promise((resolve) => child.on('close', resolve));
    while (asked(cwd).length < 3) await new Promise((done) => setTimeout(done, 20));
    child.kill('SIGINT');
    expect(await closed).toBe(130);
    expect(json(readFileSync(join(cwd, 'r.json'), 'utf8')).interrupted).toBe(true);
  });

  test('failed trials are counted and made again by --resume', async () => {
    const cwd = project(
      "if (run % 4 === 0 && !process.env.WELL) throw new Error('no');\n  return '- Rollback auth-service';",
    );
    const first = await cli(['experiment', 'e.yaml', '--json', '--quiet'], { cwd });
    expect(first.code).toBe(0);
    expect(json(first.stdout).conditions[0]).toMatchObject({ n: 6, failed: 2 });
    expect(json(first.stdout).notices[0]).toContain('2 of 8 trials failed');
    const second = await cli(['experiment', 'e.yaml', '--json', '--resume'], {
      cwd,
      env: { WELL: '1' },
    });
    expect(json(second.stdout).conditions[0]).toMatchObject({ n: 8, failed: 0 });
    expect(asked(cwd)).toHaveLength(10);
  });

  test('a condition with no trial that could be measured exits 2', async () => {
    const cwd = project("throw new Error('never');");
    expect((await cli(['experiment', 'e.yaml', '-n', '2'], { cwd })).code).toBe(2);
  });

  test('--resume refuses another experiment, and one that was never started', async () => {
    const cwd = project("return '- Rollback';");
    const resume = (...args: string[]) =>
      cli(['experiment', 'e.yaml', '--resume', ...args], { cwd });
    expect(await resume()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RESUME_REFUSED'),
    });
    await cli(['experiment', 'e.yaml', '--quiet'], { cwd });
    expect(await resume('-n', '3')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RESUME_REFUSED'),
    });
  });
});

describe('mistakes', () => {
  const simple = 'experiment: e\nconditions:\n  a: {data: t.csv}\n';
  test.each([
    { when: 'no file', args: ['nothing.yaml'], files: {}, code: 'FILE_MISSING' },
    {
      when: 'a misspelt key',
      args: ['e.yaml'],
      files: { 'e.yaml': 'experimnt: x\n' },
      code: 'SPEC_UNKNOWN_KEY',
    },
    { when: 'no trials file', args: ['e.yaml'], files: { 'e.yaml': simple }, code: 'FILE_MISSING' },
    {
      when: 'a bad number',
      args: ['e.yaml'],
      files: { 'e.yaml': simple, 't.csv': 'trial,dq\n1,0.5\n2,high\n' },
      code: 't.csv:3:1 DATA_INVALID',
    },
    {
      when: 'a number that is not decimal',
      args: ['e.yaml'],
      files: { 'e.yaml': simple, 't.csv': 'trial,t2u\n1,0x10\n' },
      code: 't.csv:2:1 DATA_INVALID',
    },
    {
      when: 'a score above 1',
      args: ['e.yaml'],
      files: { 'e.yaml': simple, 't.csv': 'trial,dq\n1,40\n' },
      code: 't.csv:2:1 DATA_INVALID',
    },
    {
      when: 'a row too short',
      args: ['e.yaml'],
      files: { 'e.yaml': simple, 't.csv': 'trial,dq\n1\n' },
      code: 't.csv:2:1 DATA_INVALID',
    },
    {
      when: 'another condition',
      args: ['e.yaml'],
      files: { 'e.yaml': simple, 't.csv': 'condition,dq\nb,1\n' },
      code: 'NOTHING_FOUND',
    },
    {
      when: 'two documents on stdout',
      args: ['e.yaml', '-f', 'json', '-f', 'html'],
      files: {},
      code: 'OPTIONS_CONFLICT',
    },
    { when: 'an unknown format', args: ['e.yaml', '-f', 'jsn'], files: {}, code: 'OPTION_INVALID' },
    { when: 'no ratings', args: ['agreement'], files: {}, code: 'OPTION_INVALID' },
    {
      when: 'ratings without raters',
      args: ['agreement', 'r.csv'],
      files: { 'r.csv': 'item,score\n1,2\n' },
      code: 'r.csv:1:1 DATA_INVALID',
    },
    {
      when: 'a rating twice',
      args: ['agreement', 'r.csv'],
      files: { 'r.csv': 'item,rater,x\n1,a,2\n1,a,3\n' },
      code: 'r.csv:3:1 DATA_INVALID',
    },
    {
      when: 'a gate without a level',
      args: ['agreement', 'r.csv', '--min-alpha', '0.7'],
      files: {},
      code: 'OPTION_INVALID',
    },
  ])('$when: exit 2, said in words', async ({ args, files, code }) => {
    const outcome = await cli(['experiment', ...args], { cwd: tempDir(files) });
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(code) });
    expect(outcome.stderr).not.toMatch(/\n\s+at /);
  });
});

test('trials with their actions are scored again to the same result, and against another truth to another', async () => {
  const cwd = demoDir();
  const first = await cli(
    ['experiment', 'experiment.yaml', '--json', '-o', 'trials.csv', '--quiet'],
    { cwd },
  );
  const truth = /^ground_truth: .*$/m.exec(readFileSync(join(cwd, 'experiment.yaml'), 'utf8'))![0];
  const again = (ground: string) => {
    writeFileSync(
      join(cwd, 'again.yaml'),
      `version: 1\nexperiment: again\n${ground}\nconditions:\n  human: {data: ./trials.csv}\n  single-agent: {data: ./trials.csv}\n  several-agents: {data: ./trials.csv}\n`,
    );
    return cli(['experiment', 'again.yaml', '--json', '--quiet'], { cwd });
  };
  const numbers = (text: string) =>
    json(text)
      .conditions.slice(0, 3)
      .map(({ condition, metrics }) => [condition, metrics.dq?.mean, metrics.t2u_s?.mean]);
  expect(numbers((await again(truth)).stdout)).toEqual(numbers(first.stdout));
  expect(numbers((await again('ground_truth: order a pizza')).stdout)).not.toEqual(
    numbers(first.stdout),
  );
});

test('the published study is computed by one command', async () => {
  const cwd = demoDir();
  const files = ['-o', 'figure.svg', '-o', 'table.tex', '-o', 'report.html'];
  const { code, stdout } = await cli(['experiment', 'published-study.yaml', '--json', ...files], {
    cwd,
  });
  expect(code).toBe(0);
  const { conditions, comparisons } = json(stdout);
  expect(
    conditions.map(({ n, metrics, actionable }) => [
      n,
      metrics.dq!.mean.toFixed(3),
      actionable!.count,
    ]),
  ).toEqual([
    [116, '0.000', 0],
    [115, '0.403', 2],
    [116, '0.692', 116],
  ]);
  const pair = comparisons.find(({ metric, a, b }) => metric === 'dq' && a === 'C2' && b === 'C3')!;
  expect(pair.relative_improvement_pct!.toFixed(1)).toBe('71.7');
  expect(readFileSync(join(cwd, 'figure.svg'), 'utf8')).toContain('(a) decision quality');
  expect(readFileSync(join(cwd, 'table.tex'), 'utf8')).toContain(
    'decision quality & C3 & 116 & 0.692 & 0.000 &',
  );
});

test('names that begin like formulas read back as they were, and the data of an experiment is not overwritten', async () => {
  const names = ['-minus', '+plus', '=equals', '@at'];
  const rows = names.flatMap((name, i) => [
    `${name},1,0.${i + 3},4${i}`,
    `${name},2,0.${i + 4},5${i}`,
  ]);
  const data = ['condition,trial,dq,t2u_s', ...rows].join('\n');
  const conditions = names.map((name) => `  "${name}": {data: ./trials.csv}`).join('\n');
  const written = `version: 1\nexperiment: names\nconditions:\n${conditions}\n`;
  const cwd = tempDir({
    'trials.csv': data,
    'e.yaml': written,
    'again.yaml': written.replaceAll('trials', 'my-trials'),
  });
  const first = await cli(['experiment', 'e.yaml', '--json', '-o', 'my-trials.csv', '--quiet'], {
    cwd,
  });
  expect(readFileSync(join(cwd, 'my-trials.csv'), 'utf8')).not.toMatch(/^"?[-+=@]/m);
  const again = await cli(['experiment', 'again.yaml', '--json', '--quiet'], { cwd });
  const numbers = (text: string) =>
    json(text).conditions.map(({ condition, metrics }) => [condition, metrics.dq?.mean]);
  expect(numbers(again.stdout)).toEqual(numbers(first.stdout));
  expect(numbers(first.stdout).map(([name]) => name)).toEqual(names);
  for (const file of ['trials.csv', './trials.csv']) {
    const refused = await cli(['experiment', 'e.yaml', '-o', file, '--quiet'], { cwd });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('OPTIONS_CONFLICT') });
  }
  expect(readFileSync(join(cwd, 'trials.csv'), 'utf8')).toBe(data);
});
