import { join } from 'node:path';
import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { documentKind } from './diagnose.ts';
import { queriesIn } from './lenses.ts';

const HEAD = 'version: 1\nagent: shop\nvars: {city: Ely}\nqueries:\n';
const CHECK = 'correctness: {expected_in_answer: [x]}';

test.each([
  ['an id', `  - {id: one, query: a, ${CHECK}}\n`],
  ['no id', `  - {query: Where is it?, ${CHECK}}\n`],
  ['no id, twice', `  - {query: Where?, ${CHECK}}\n  - {query: Where?, ${CHECK}}\n`],
  ['a variable', `  - {query: "Where in {{city}}?", ${CHECK}}\n`],
  ['rows and an id', `  - {id: row, query: "{{n}}", rows: [{n: a}, {n: b}], ${CHECK}}\n`],
  ['rows and no id', `  - {query: "say {{n}}", rows: [{n: a}, {n: b}], ${CHECK}}\n`],
  ['rows of a file', `  - {query: "say {{n}}", rows: rows.csv, ${CHECK}}\n`],
  [
    'a conversation',
    `  - {conversation: {start: hello, user: {script: [{say: bye}]}}, ${CHECK}}\n`,
  ],
])('a mistake elsewhere leaves a query its ids and its place: %s', (_, queries) => {
  const file = join(tempDir({ 'rows.csv': 'n\na\nb\n' }), 'agentci_spec.yaml');
  const good = parseSpec(`${HEAD}${queries}`, { file }).suite!.queries.map(({ id, location }) => ({
    id,
    location,
  }));
  expect(good.length).toBeGreaterThan(0);
  const mistakes = [
    `  - {id: other, query: b, path: {max_tools: 1}}\n`,
    '  - {id: other, query: "{{unknown}}", path: {max_tool_calls: 1}}\n',
  ];
  for (const mistake of mistakes) {
    expect(parseSpec(`${HEAD}${queries}${mistake}`, { file }).suite).toBeUndefined();
    const found = queriesIn(file, `${HEAD}${queries}${mistake}`)!;
    expect(found.filter(({ id }) => id !== 'other')).toEqual(good);
    expect(found.map(({ id }) => id)).toContain('other');
  }
});

test.each([
  'tools',
  'rules',
  'sequences',
  'flows',
  'blocklist',
  'enforcement',
  'aliases',
  'limits',
  'schemas',
])('a file with nothing but %s is a policy by its name or its version', (key) => {
  expect(documentKind('my-policy.yaml', `${key}: []\n`)).toBe('policy');
  expect(documentKind('x.yaml', `version: 1\n${key}: []\n`)).toBe('policy');
  expect(documentKind('x.yaml', `${key}: []\n`)).toBe('other');
});

test.each(['definitions', '$defs', 'examples'])('%s alone are a policy by its name only', (key) => {
  expect(documentKind('my-policy.yaml', `${key}: {}\n`)).toBe('policy');
  expect(documentKind('x.yaml', `version: 1\n${key}: {}\n`)).toBe('other');
});
