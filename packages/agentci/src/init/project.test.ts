import { basename } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { detectProject } from './project.ts';

test.each([
  {
    what: 'a TypeScript package with a scope',
    files: {
      'package.json': { name: '@acme/Docs Bot', devDependencies: { ai: '5' } },
      'tsconfig.json': '{}',
      'yarn.lock': '',
    },
    project: {
      name: 'docs-bot',
      packageManager: 'yarn',
      language: 'typescript',
      framework: 'Vercel AI SDK',
      lock: 'yarn.lock',
    },
  },
  {
    what: 'a JavaScript package without a lock file',
    files: { 'package.json': { name: 'bot', dependencies: { '@openai/agents': '1' } } },
    project: {
      name: 'bot',
      packageManager: 'npm',
      language: 'javascript',
      framework: 'OpenAI Agents SDK',
    },
  },
  {
    what: 'a Python project',
    files: { 'pyproject.toml': '[project]\ndependencies = ["Pydantic-AI>=1"]\n' },
    project: {
      packageManager: undefined,
      language: 'python',
      framework: 'Pydantic AI',
      pythonManifest: 'pyproject.toml',
    },
  },
  {
    what: 'a Python project that AgentCI was installed into',
    files: {
      'main.py': '',
      'package.json': { devDependencies: { '@agentci/agentci': '1' } },
      'package-lock.json': '{}',
    },
    project: {
      packageManager: 'npm',
      language: 'python',
      framework: undefined,
      lock: 'package-lock.json',
      hasAgentci: true,
    },
  },
  {
    what: 'a Python package',
    files: { 'pyproject.toml': '[build-system]\nrequires = ["hatchling"]\n' },
    project: {
      packageManager: undefined,
      language: 'python',
      framework: undefined,
      pythonManifest: 'pyproject.toml',
      isPythonPackage: true,
    },
  },
  {
    what: 'a package with a lock file of npm and AgentCI',
    files: {
      'package.json': { name: 'bot', devDependencies: { '@agentci/agentci': '1' } },
      'package-lock.json': '{}',
    },
    project: {
      name: 'bot',
      packageManager: 'npm',
      language: 'javascript',
      framework: undefined,
      lock: 'package-lock.json',
      hasAgentci: true,
    },
  },
  {
    what: 'a lock file of Yarn 1',
    files: { 'package.json': { name: 'bot' }, 'yarn.lock': '# yarn lockfile v1\n' },
    project: {
      name: 'bot',
      packageManager: 'yarn',
      language: 'javascript',
      framework: undefined,
      lock: 'yarn.lock',
      isClassicYarn: true,
    },
  },
  {
    what: 'a package manager that is only named',
    files: { 'package.json': { name: 'bot', packageManager: 'pnpm@10.1.0' } },
    project: { name: 'bot', packageManager: 'pnpm', language: 'javascript', framework: undefined },
  },
  {
    what: 'a package.json that is broken',
    files: { 'package.json': '{"name"' },
    project: { packageManager: 'npm', language: 'javascript', framework: undefined },
  },
  {
    what: 'nothing',
    files: {},
    project: { packageManager: undefined, language: undefined, framework: undefined },
  },
])('sees $what', ({ files, project }) => {
  const dir = tempDir(files);
  expect(detectProject(dir)).toEqual({
    name: basename(dir).toLowerCase(),
    lock: undefined,
    isClassicYarn: false,
    hasAgentci: false,
    pythonManifest: undefined,
    isPythonPackage: false,
    ...project,
  });
});
