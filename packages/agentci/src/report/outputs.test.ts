import { resolve } from 'node:path';
import type { Suite } from '@agentci/spec';
import { expect, test } from 'vitest';
import { planOutputs, suiteOutputs } from './outputs.ts';

const cwd = resolve('/work');
const plan = (words: string, env: Record<string, string> = {}) => {
  const formats: string[] = [];
  const files: string[] = [];
  for (const [, flag, value] of words.matchAll(/-(f|o) (\S+)/g))
    (flag === 'f' ? formats : files).push(value!);
  return planOutputs({ formats, files, env, cwd }).map(({ reporter, file }) =>
    file === undefined
      ? reporter
      : `${reporter} in ${file.replaceAll('\\', '/').replace(/^.*\/work\//, '')}`,
  );
};
const onGithub = { GITHUB_ACTIONS: 'true' };

test.each([
  { words: '', plans: ['console'] },
  { words: '-o r.json', plans: ['console', 'json in r.json'] },
  { words: '-o R.JSON', plans: ['console', 'json in R.JSON'] },
  {
    words: '-o r.xml -o r.sarif -o r.prom',
    plans: ['console', 'junit in r.xml', 'sarif in r.sarif', 'prometheus in r.prom'],
  },
  { words: '-f json', plans: ['json'] },
  { words: '-f json=r.out -o r.csv', plans: ['json in r.out', 'csv in r.csv'] },
  { words: '-f json=a=b.json', plans: ['json in a=b.json'] },
  { words: '-f console -f markdown', plans: ['console', 'markdown'] },
  { words: '-f github', plans: ['github', 'console'] },
  { words: '-f github -f json=r.json', plans: ['github', 'json in r.json', 'console'] },
])('"$words" makes $plans', ({ words, plans }) => {
  expect(plan(words)).toEqual(plans);
});

test.each([
  { words: '', plans: ['console', 'github'] },
  { words: '-f console -f github', plans: ['console', 'github'] },
  { words: '-f github', plans: ['github', 'console'] },
  { words: '-f json', plans: ['json'] },
  { words: '-f json=r.json', plans: ['json in r.json', 'github'] },
  { words: '-f github=notes.txt', plans: ['github in notes.txt', 'github'] },
])('on GitHub "$words" makes $plans', ({ words, plans }) => {
  expect(plan(words, onGithub)).toEqual(plans);
});

test('somewhere that only says it is not GitHub nothing is annotated', () => {
  expect(plan('', { GITHUB_ACTIONS: 'false' })).toEqual(['console']);
});

test.each([
  { words: '-o r.pdf', code: 'OPTION_INVALID', says: 'no report format is known for "r.pdf"' },
  { words: '-f jsn', code: 'OPTION_INVALID', says: 'unknown report format "jsn"' },
  {
    words: '-f constructor',
    code: 'OPTION_INVALID',
    says: 'unknown report format "constructor"',
  },
  {
    words: '-o r.json -f json=./r.json',
    code: 'OPTIONS_CONFLICT',
    says: 'two reports would be written into',
  },
  {
    words: '-f json -f junit',
    code: 'OPTIONS_CONFLICT',
    says: 'json and junit cannot both go to stdout',
  },
  {
    words: '-f console -f json',
    code: 'OPTIONS_CONFLICT',
    says: 'json and console cannot both go to stdout',
  },
])('"$words" is refused', ({ words, code, says }) => {
  expect(() => plan(words)).toThrowError(
    expect.objectContaining({ code, message: expect.stringContaining(says) }),
  );
});

test('reports configured in a suite are written next to it, and nothing twice to the terminal', () => {
  const suite = {
    dir: 'suites',
    output: { formats: ['console', 'json', 'github', 'junit'], directory: 'out' },
  };
  expect(suiteOutputs(suite as unknown as Suite, { cwd })).toEqual([
    { reporter: 'json', file: resolve(cwd, 'suites/out/results.json') },
    { reporter: 'junit', file: resolve(cwd, 'suites/out/results.xml') },
  ]);
});
