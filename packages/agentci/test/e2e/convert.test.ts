import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const suite = (...assert: readonly object[]) => ({
  'promptfooconfig.json': {
    description: 'desk',
    prompts: ['{{q}}'],
    providers: ['echo'],
    tests: [{ description: 'one', vars: { q: 'hello world' }, assert }],
  },
});
const HELLO = { type: 'contains', value: 'hello' };
const CODE = { type: 'javascript', value: 'true' };

test('a suite that is carried whole exits 0, and the spec it becomes runs', async () => {
  const cwd = tempDir(suite(HELLO));
  const { code, stdout } = await cli(['convert', 'promptfooconfig.json'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('promptfoo: 1 case, 1 assertion → agentci_spec.yaml');
  expect((await cli(['validate'], { cwd })).code).toBe(0);
  expect((await cli(['test'], { cwd })).code).toBe(0);
});

test('left-out parts are listed with their line, and the exit code is 1', async () => {
  const cwd = tempDir(suite(HELLO, CODE));
  const { code, stdout } = await cli(['convert', 'promptfooconfig.json', '--json'], { cwd });
  const report = JSON.parse(stdout) as Record<string, unknown>;
  expect(code).toBe(1);
  expect(report).toMatchObject({
    spec: 'agentci_spec.yaml',
    cases: 1,
    assertions: [
      {
        file: 'promptfooconfig.json',
        line: 1,
        type: 'contains',
        verdict: 'exact',
        target: 'correctness.regex_match',
      },
      {
        file: 'promptfooconfig.json',
        line: 1,
        type: 'javascript',
        verdict: 'none',
        why: expect.any(String),
      },
    ],
    counts: { exact: 1, close: 0, none: 1 },
  });
  expect(JSON.parse(readFileSync(join(cwd, 'convert-report.json'), 'utf8'))).toEqual(report);
});

test.each(['constructor', 'toString', '__proto__', 'not-hasOwnProperty'])(
  'an assertion of type "%s" is unknown, not a property of an object',
  async (type) => {
    const cwd = tempDir(suite(HELLO, { type, value: 'x' }));
    const { code, stdout } = await cli(['convert', 'promptfooconfig.json'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('is not a type that is known');
  },
);

test('close is exit 1 when left out, and 0 when asked for', async () => {
  const cwd = tempDir(suite(HELLO, { type: 'similar', value: 'hi' }));
  expect((await cli(['convert', '.'], { cwd })).code).toBe(1);
  expect((await cli(['convert', '.', '--lossy', '--out', 'b'], { cwd })).code).toBe(0);
  expect(existsSync(join(cwd, 'b/agentci_spec.yaml'))).toBe(true);
});

test('a spec that exists is kept unless told otherwise', async () => {
  const cwd = tempDir({ ...suite(HELLO), 'agentci_spec.yaml': 'mine' });
  const { code, stderr } = await cli(['convert', 'promptfooconfig.json'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('FILE_EXISTS');
  expect(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8')).toBe('mine');
  expect(existsSync(join(cwd, 'convert-report.md'))).toBe(false);
  expect((await cli(['convert', 'promptfooconfig.json', '--overwrite'], { cwd })).code).toBe(0);
});

test.each([
  { when: 'the file does not exist', args: ['none.yaml'], says: 'CONVERT_UNREADABLE' },
  { when: 'the tool is not known', args: ['other.yaml'], says: 'OPTION_INVALID' },
  {
    when: 'the tool is misspelt',
    args: ['promptfooconfig.json', '--from', 'promptfo'],
    says: 'did you mean "promptfoo"?',
  },
  {
    when: 'a path leaves the folder',
    args: ['out.json', '--from', 'promptfoo'],
    says: 'CONVERT_OUTSIDE',
  },
  {
    when: '--map has no "="',
    args: ['promptfooconfig.json', '--map', 'x'],
    says: 'OPTION_INVALID',
  },
  {
    when: '--map has a name that is not known',
    args: ['promptfooconfig.json', '--map', 'inptu=x'],
    says: 'did you mean "input"',
  },
  {
    when: 'there are no cases',
    args: ['empty.json', '--from', 'promptfoo'],
    says: 'NOTHING_FOUND',
  },
])('exits 2 without a stack and writes nothing when $when', async ({ args, says }) => {
  const cwd = tempDir({
    ...suite(HELLO),
    'other.yaml': 'a: 1',
    'out.json': { prompts: ['file://../../x.txt'], tests: [] },
    'empty.json': { prompts: ['x'], providers: [], tests: [] },
  });
  const { code, stderr } = await cli(['convert', ...args], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr).not.toContain('    at ');
  expect(existsSync(join(cwd, 'agentci_spec.yaml'))).toBe(false);
});

test('ten thousand cases become a table', async () => {
  const cwd = tempDir();
  const rows = Array.from({ length: 10_000 }, (_, i) => `question ${i},contains: ${i}`);
  writeFileSync(join(cwd, 'tests.csv'), `q,__expected\n${rows.join('\n')}\n`);
  const { code } = await cli(['convert', 'tests.csv'], { cwd });
  expect(code).toBe(0);
  expect(readFileSync(join(cwd, 'rows/cases.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(
    10_000,
  );
  expect(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8').split('\n').length).toBeLessThan(20);
});
