import { expect, test } from 'vitest';
import { parseYaml } from '../yaml/yaml.ts';
import { Problems } from './problems.ts';

const sourceOf = (file: string) => parseYaml('a: 1\nb: 2\nc: 3\n', { file }).source;
const one = sourceOf('one.yaml');
const told = (problems: Problems) =>
  problems.sorted().map(({ file, line, code, message }) => `${file}:${line} ${code} ${message}`);

test('problems come by their place, each once at one place', () => {
  const problems = new Problems('TOO_MANY');
  problems.add({ source: one, start: 10 }, { code: 'X', message: 'm' });
  problems.add({ source: one, start: 0 }, { code: 'X', message: 'm' });
  problems.add({ source: one, start: 0 }, { code: 'X', message: 'm' });
  problems.add({ source: one, start: 0 }, { code: 'X', message: 'other' });
  problems.add({ source: sourceOf('two.yaml'), start: 0 }, { code: 'X', message: 'm' });
  expect(told(problems)).toEqual([
    'one.yaml:1 X m',
    'one.yaml:1 X other',
    'one.yaml:3 X m',
    'two.yaml:1 X m',
  ]);
  expect(problems.errors).toBe(4);
});

test('a warning is not an error, wherever it comes from', () => {
  const problems = new Problems('TOO_MANY');
  problems.add({ source: one, start: 0 }, { severity: 'warning', code: 'X', message: 'm' });
  const other = new Problems('TOO_MANY');
  other.addAll(problems.sorted());
  expect([problems.hasErrors, other.hasErrors]).toEqual([false, false]);
  problems.add({ source: one, start: 0 }, { code: 'Y', message: 'm' });
  other.addAll(problems.sorted());
  expect([problems.hasErrors, other.hasErrors]).toEqual([true, true]);
});

test('an error past a thousand warnings is still an error, though it is only counted', () => {
  const problems = new Problems('TOO_MANY');
  for (let i = 0; i < 1000; i++)
    problems.add({ source: one, start: 0 }, { severity: 'warning', code: 'X', message: `${i}` });
  expect(problems.sorted()).toHaveLength(1000);
  problems.add({ source: one, start: 0 }, { code: 'Y', message: 'm' });
  expect(problems.hasErrors).toBe(true);
  expect(told(problems).at(-1)).toBe('one.yaml:1 TOO_MANY 1 more problems are not shown');
});

test.each([
  ['facts: {password: hunter2-lamp, order: "42"}', 'facts: {password: ************, order: "42"}'],
  ['  api_key: "q7 x9"', '  api_key: "** **"'],
  ["'secret': 'abc def', b: 1", "'secret': '*** ***', b: 1"],
  [
    'note: use sk-abcdefghijklmnopqrstuvwx1234 here',
    'note: use ******************************* here',
  ],
  ['api_key_env: MY_KEY', 'api_key_env: MY_KEY'],
  ['max_total_tokens: 500', 'max_total_tokens: 500'],
])(
  'the line that is shown has no secrets, and every character keeps its place: %s',
  (line, shown) => {
    const problems = new Problems('TOO_MANY');
    problems.add(
      { source: parseYaml(line, { file: 'x.yaml' }).source, start: 0 },
      { code: 'X', message: 'm' },
    );
    expect(problems.sorted()[0]!.excerpt).toBe(shown);
  },
);
