import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import { baselinePath, listAllBaselineFiles, listBaselineFiles } from './baseline-files.ts';
import { baselineText } from './baseline-text.ts';

const baseline = (rest: object = {}) => ({ version: 'v1', agent: 'demo', query: 'q', trace: { answer: 'x' }, ...rest });

test('baselines are read in order, whatever else lies beside them', () => {
  const dir = tempDir({
    'demo/v2/b.json': baseline({ version: 'v2', query: 'b' }),
    'demo/v2/a.json': baseline({ version: 'v2', query: 'a' }),
    'demo/v2/notes.md': 'mine',
    'demo/v1.json': baseline({ query: 'old' }),
    'demo/README.md': 'mine',
    'other/v1/a.json': baseline({ agent: 'other' }),
    'notes.txt': 'mine',
  });
  expect(listBaselineFiles(dir, 'demo').map(({ query }) => query)).toEqual(['old', 'a', 'b']);
  expect(listAllBaselineFiles(dir).map(({ agent }) => agent)).toEqual(['demo', 'demo', 'demo', 'other']);
  expect(listAllBaselineFiles(join(dir, 'none'))).toEqual([]);
});

test.each([
  { what: 'no JSON', content: '{"version"', code: 'BASELINE_UNREADABLE', says: 'is not JSON' },
  { what: 'no object', content: '7', code: 'BASELINE_UNREADABLE', says: 'it needs version, agent, query and trace' },
  { what: 'null', content: 'null', code: 'BASELINE_UNREADABLE', says: 'it needs version, agent, query and trace' },
  {
    what: 'of a later schema',
    content: baseline({ schema: 'agentci.baseline/2' }),
    code: 'BASELINE_TOO_NEW',
    says: 'is of agentci.baseline/2',
  },
  {
    what: 'of a later version',
    content: baseline({ schema_version: 2 }),
    code: 'BASELINE_TOO_NEW',
    says: 'is of schema version 2',
  },
])('a file that is $what is refused by its name', ({ content, code, says }) => {
  const dir = tempDir({ 'demo/v1/a.json': content });
  expect(() => listBaselineFiles(dir, 'demo')).toThrowError(
    expect.objectContaining({ code, message: expect.stringMatching(new RegExp(`a\\.json.* ${says}`)) }),
  );
});

test('agents of any name have a folder of their own, inside', () => {
  const folder = (agent: string) => baselinePath({ dir: 'b', agent, version: 'v1', queryId: 'q' }).split(/[\\/]/);
  expect(folder('docs-bot')).toEqual(['b', 'docs-bot', 'v1', 'q.json']);
  const names = ['Docs Bot', 'Docs_Bot!', '../x', '..', 'é'].map((agent) => folder(agent));
  expect(names.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4]);
  expect(new Set(names.map(([, name]) => name)).size).toBe(5);
  for (const [, name] of names) expect(name).toMatch(/^[A-Za-z0-9-]+-[0-9a-f]{6}$/);
});

test('the same content is the same text, what it is first and the rest by the alphabet', () => {
  const text = baselineText({
    z: 1,
    trace: { steps: [{ result: 1, b: 2, a: 3, name: 'n' }] },
    agent: 'a',
    version: 'v',
  });
  expect(text).toBe(
    baselineText({ version: 'v', agent: 'a', trace: { steps: [{ a: 3, name: 'n', result: 1, b: 2 }] }, z: 1 }),
  );
  expect([...text.matchAll(/"(\w+)":/g)].map(([, key]) => key)).toEqual([
    'version',
    'agent',
    'trace',
    'steps',
    'name',
    'result',
    'a',
    'b',
    'z',
  ]);
});
