import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import {
  baselinePath,
  listAllBaselineFiles,
  listBaselineFiles,
  usableBaselines,
} from './baseline-files.ts';
import { baselineText } from './baseline-text.ts';

const baseline = (rest: object = {}) => ({
  version: 'v1',
  agent: 'demo',
  query: 'q',
  trace: { answer: 'x' },
  ...rest,
});

test('baselines are read in order, with any other files next to them', () => {
  const dir = tempDir({
    'demo/v2/b.json': baseline({ version: 'v2', query: 'b' }),
    'demo/v2/a.json': baseline({ version: 'v2', query: 'a' }),
    'demo/v2/notes.md': 'mine',
    'demo/v1.json': baseline({ query: 'old' }),
    'demo/README.md': 'mine',
    'other/v1/a.json': baseline({ agent: 'other' }),
    'notes.txt': 'mine',
  });
  expect(listBaselineFiles(dir, 'demo').files.map(({ query }) => query)).toEqual(['old', 'a', 'b']);
  expect(listAllBaselineFiles(dir).files.map(({ agent }) => agent)).toEqual([
    'demo',
    'demo',
    'demo',
    'other',
  ]);
  expect(listAllBaselineFiles(join(dir, 'none'))).toEqual({ files: [], broken: [] });
});

test.each([
  { what: 'no JSON', content: '{"version"', code: 'BASELINE_UNREADABLE', says: 'is not JSON' },
  {
    what: 'no object',
    content: '7',
    code: 'BASELINE_UNREADABLE',
    says: 'it needs version, agent and trace',
  },
  {
    what: 'null',
    content: 'null',
    code: 'BASELINE_UNREADABLE',
    says: 'it needs version, agent and trace',
  },
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
  const list = listBaselineFiles(dir, 'demo');
  for (const version of [undefined, 'v1'])
    expect(() => usableBaselines(list, version)).toThrowError(
      expect.objectContaining({
        code,
        message: expect.stringMatching(new RegExp(`a\\.json.* ${says}`)),
      }),
    );
  expect(usableBaselines(list, 'v2')).toEqual([]);
});

test.each([
  { what: 'agent', path: 'demo/v1/a.json', content: baseline({ agent: 'other' }) },
  { what: 'version', path: 'demo/v1/a.json', content: baseline({ version: 'v2' }) },
  { what: 'version', path: 'demo/v1.json', content: baseline({ version: 'v2' }) },
  { what: 'query_id', path: 'demo/v1/a.json', content: baseline({ query_id: 'b' }) },
])(
  'a file at $path that names another $what is refused, and does not affect other versions',
  (row) => {
    const dir = tempDir({
      [row.path]: row.content,
      'demo/v3/a.json': baseline({ version: 'v3', query_id: 'a' }),
    });
    const list = listBaselineFiles(dir, 'demo');
    expect(() => usableBaselines(list, 'v1')).toThrowError(
      expect.objectContaining({
        code: 'BASELINE_MISPLACED',
        message: expect.stringContaining(`says ${row.what} `),
      }),
    );
    expect(usableBaselines(list, 'v3').map(({ version }) => version)).toEqual(['v3']);
  },
);

test.each([
  { what: 'the simple form', trace: { query: 'Why?', answer: 'x' }, query: 'Why?' },
  { what: 'AgentCI 2.0', trace: { input_query: 'Why?', final_answer: 'x' }, query: 'Why?' },
  { what: 'the Python program', trace: { spans: [], metadata: { query: 'Why?' } }, query: 'Why?' },
  {
    what: 'our own',
    trace: { task: { input: [{ role: 'user', parts: [{ type: 'text', text: 'Why?' }] }] } },
    query: 'Why?',
  },
  { what: 'nothing', trace: { answer: 'x' }, query: '' },
])(
  'a one-file baseline without a question takes it from a trace in the form of $what',
  ({ trace, query }) => {
    const dir = tempDir({ 'demo/v1.json': { version: 'v1', agent: 'demo', trace } });
    expect(listBaselineFiles(dir, 'demo').files).toMatchObject([{ version: 'v1', query }]);
  },
);

test('agents of any name have separate folders, inside', () => {
  const folder = (agent: string) =>
    baselinePath({ dir: 'b', agent, version: 'v1', queryId: 'q' }).split(/[\\/]/);
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
    baselineText({
      version: 'v',
      agent: 'a',
      trace: { steps: [{ a: 3, name: 'n', result: 1, b: 2 }] },
      z: 1,
    }),
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
