import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../../test/support/temp-dir.ts';
import { detectProject } from './project.ts';

test.each([
  {
    what: 'a TypeScript package with a scope',
    files: {
      'package.json': { name: '@acme/Docs Bot', devDependencies: { ai: '5' } },
      'tsconfig.json': '{}',
      'yarn.lock': '',
    },
    project: { name: 'docs-bot', packageManager: 'yarn', language: 'typescript', framework: 'Vercel AI SDK' },
  },
  {
    what: 'a JavaScript package without a lock file',
    files: { 'package.json': { name: 'bot', dependencies: { '@openai/agents': '1' } } },
    project: { name: 'bot', packageManager: 'npm', language: 'javascript', framework: 'OpenAI Agents SDK' },
  },
  {
    what: 'a Python project',
    files: { 'pyproject.toml': '[project]\ndependencies = ["Pydantic-AI>=1"]\n' },
    project: { packageManager: undefined, language: 'python', framework: 'Pydantic AI' },
  },
  {
    what: 'a package.json that is broken',
    files: { 'package.json': '{"name"' },
    project: { packageManager: 'npm', language: 'javascript', framework: undefined },
  },
  { what: 'nothing', files: {}, project: { packageManager: undefined, language: undefined, framework: undefined } },
])('sees $what', ({ files, project }) => {
  const dir = tempDir(files);
  expect(detectProject(dir)).toEqual({ name: basename(dir).toLowerCase(), ...project });
});
