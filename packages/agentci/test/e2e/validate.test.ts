import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const good =
  'version: 1\nagent: demo\nqueries:\n  - query: q\n    correctness:\n      exact_match: x\n';
const bad =
  'version: 1\nagent: demo\nqueries:\n  - query: q\n    path:\n      forbiden_tools: [a]\n      max_tool_calls: -1\n';

test('a valid spec: exit 0 with a summary', async () => {
  const { code, stdout } = await cli(['validate', 'good.yaml'], {
    cwd: tempDir({ 'good.yaml': good }),
  });
  expect(code).toBe(0);
  expect(stdout).toBe('✓ good.yaml: valid, agent "demo", 1 query, 1 check\n');
});

test('a bad spec: exit 1 and every mistake at once, with place, code, caret and way out', async () => {
  const { code, stdout } = await cli(['validate', 'bad.yaml'], {
    cwd: tempDir({ 'bad.yaml': bad }),
  });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^bad\.yaml:6:7 SPEC_UNKNOWN_KEY: .*\n6 \| {7}forbiden_tools: \[a\]\n {10}\^\n {2}hint: .*forbidden_tools/m,
  );
  expect(stdout).toMatch(/^bad\.yaml:7:\d+ SPEC_VALUE: /m);
});

test.each([
  { what: 'YAML that does not parse is invalid', files: { 'a.yaml': 'a: [1' }, code: 1 },
  { what: 'a file that is not there could not be read', files: {}, code: 2 },
])('$what', async ({ files, code }) => {
  expect((await cli(['validate', 'a.yaml'], { cwd: tempDir(files) })).code).toBe(code);
});

test('several files: the worst decides, and JSON says which', async () => {
  const cwd = tempDir({ 'good.yaml': good, 'bad.yaml': bad });
  const { code, stdout } = await cli(['validate', '--json', 'good.yaml', 'bad.yaml'], { cwd });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    files: [
      { file: 'good.yaml', valid: true },
      {
        file: 'bad.yaml',
        valid: false,
        diagnostics: [{ code: 'SPEC_UNKNOWN_KEY', line: 6, column: 7 }, { line: 7 }],
      },
    ],
  });
});

test('never loads the runner or a module', async () => {
  const spec = good.replace('queries', 'runner: {module: ./boom.mjs}\nuse: [./boom.mjs]\nqueries');
  const cwd = tempDir({ 'a.yaml': spec, 'boom.mjs': 'console.log("loaded"); process.exit(9)' });
  const { code, stdout } = await cli(['validate', 'a.yaml'], { cwd });
  expect(code).toBe(0);
  expect(stdout).not.toContain('loaded');
});

test('on GitHub every mistake is an annotation on its line', async () => {
  const { stderr } = await cli(['validate', 'bad.yaml'], {
    cwd: tempDir({ 'bad.yaml': bad }),
    env: { GITHUB_ACTIONS: 'true' },
  });
  expect(stderr).toMatch(/^::error file=bad\.yaml,line=6,col=7,title=SPEC_UNKNOWN_KEY::/m);
});
