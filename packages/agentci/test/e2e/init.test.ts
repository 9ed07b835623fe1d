import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';
import { tempDir } from '../support/temp-dir.ts';

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

test('nothing is written over without --force, and nothing else is written then', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': 'mine' });
  const { code, stderr } = await cli(['init'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('FILE_EXISTS');
  expect(read(cwd, 'agentci_spec.yaml')).toBe('mine');
  expect(existsSync(join(cwd, 'traces'))).toBe(false);
  expect((await cli(['init', '--force'], { cwd })).code).toBe(0);
});

describe('every kind of runner and CI is valid', () => {
  test.each(['replay', 'command', 'module', 'http'])('--runner %s', async (runner) => {
    const cwd = tempDir({ 'requirements.txt': 'crewai==1\n' });
    const { code, stdout } = await cli(['init', '--runner', runner, '--ci', 'none', '--agent', 'bot'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('found CrewAI, python');
    expect(existsSync(join(cwd, '.github'))).toBe(false);
  });

  test('--ci gitlab', async () => {
    const cwd = tempDir();
    await cli(['init', '--ci', 'gitlab'], { cwd });
    const job = load(read(cwd, '.gitlab-ci.agentci.yml')) as {
      agentci: { script: string[]; artifacts: { reports: object } };
    };
    expect(job.agentci.script.some((line) => line.includes('agentci test'))).toBe(true);
    expect(job.agentci.artifacts.reports).toEqual({ junit: 'agentci-results.xml' });
  });

  test('--matrix', async () => {
    const cwd = tempDir();
    await cli(['init', '--matrix', 'rag-agent,support-router'], { cwd });
    const workflow = load(read(cwd, '.github/workflows/agentci.yml')) as {
      jobs: { evaluate: { strategy: { matrix: object } } };
    };
    expect(workflow.jobs.evaluate.strategy.matrix).toEqual({ agent: ['rag-agent', 'support-router'] });
  });
});

test('a name that would not be safe in a path is refused', async () => {
  expect((await cli(['init', '--agent', '../x'], { cwd: tempDir() })).stderr).toContain('AGENT_NAME');
});
