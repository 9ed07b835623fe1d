import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSpec } from '@agentci/spec';
import { LanguageClient } from '@agentci/testing/language-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// The YAML language server of most editors must not flag specs that the loader accepts.

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const BAD = join(root, 'packages/testing/bad-specs');
const schema = pathToFileURL(join(root, 'schema/agentci-spec.schema.json')).href;
const require = createRequire(import.meta.url);
const server = join(
  dirname(require.resolve('yaml-language-server/package.json')),
  'bin/yaml-language-server',
);

/** As in docs/guide/editors.md. */
const settings = {
  yaml: {
    validate: true,
    schemas: { [schema]: ['*.yaml'] },
    schemaStore: { enable: false },
    customTags: ['!include scalar'],
  },
};

let client: LanguageClient;
beforeAll(async () => {
  client = new LanguageClient([process.execPath, server, '--stdio'], { cwd: root, settings });
  await client.initialize(root);
  await client.connection.sendNotification('workspace/didChangeConfiguration', { settings });
});
afterAll(() => client.close());

const messages = async (file: string, text: string): Promise<string[]> =>
  (await client.open(file, text)).map(
    ({ range, message }) => `${range.start.line + 1}: ${message}`,
  );

const isSpec = (name: string): boolean => /(^|[/\\])[\w-]*spec[\w.-]*\.yaml$/.test(name);
const files = [
  'docs/sample_spec.yaml',
  ...readdirSync(join(root, 'demos'), { recursive: true })
    .map(String)
    .filter((name) => isSpec(name) && !name.includes('node_modules'))
    .map((name) => join('demos', name)),
];

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => join('docs', String(name))),
];
const blocks = pages
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(
      ([, text], i) => ({
        name: `${page} ${i + 1}`,
        // A modeline with another copy of the schema would override the settings.
        text: text!.replace(/^# yaml-language-server:.*$/m, '#'),
      }),
    ),
  )
  .filter(({ text }) => !text.startsWith('# policy'));

const written = [
  ['the queries in a file of their own', 'agent: a\nqueries: !include queries.yaml\n'],
  ['a query in a file of its own', 'agent: a\nqueries:\n  - !include queries/first.yml\n'],
  [
    'a layer by pointer',
    'agent: a\nqueries:\n  - {query: q, path: !include "shared.yaml#/path"}\n',
  ],
  [
    'a number by pointer',
    'agent: a\nqueries:\n  - {query: q, path: {max_tool_calls: !include "limits.yaml#/calls"}}\n',
  ],
  ['a reference to a list', 'agent: a\nqueries: {$ref: "queries.yaml"}\n'],
  [
    'a reference with keys laid over it',
    'agent: a\nqueries:\n  - {$ref: "q.yaml#/0", tags: [smoke]}\n',
  ],
  [
    'a reference to a rubric',
    'agent: a\nqueries:\n  - {query: q, correctness: {llm_judge: [{$ref: "r.yaml#/polite"}]}}\n',
  ],
  [
    'a reference to a number',
    'agent: a\nqueries:\n  - {query: q, cost: {max_cost_usd: {$ref: "limits.yaml#/usd"}}}\n',
  ],
  ['a reference for the whole spec', '$ref: base.yaml\nagent: b\n'],
  [
    'a runner by reference',
    'agent: a\nrunner: {$ref: "run.yaml"}\nqueries:\n  - {query: q, path: {max_loops: 0}}\n',
  ],
  [
    'a variable for a number',
    'agent: a\nqueries:\n  - {query: "{{q}}", rows: c.csv, path: {max_tool_calls: "{{n}}"}}\n',
  ],
  [
    'a variable for a list',
    'agent: a\nqueries:\n  - {query: "{{q}}", rows: c.jsonl, path: {expected_tools: "{{tools}}"}}\n',
  ],
  [
    'a variable in an id',
    'agent: a\nqueries:\n  - {id: "c-{{n}}", query: "{{n}}", rows: [{n: 1}], path: {max_loops: 0}}\n',
  ],
  ['no tools at all', 'agent: a\nqueries:\n  - {query: q, path: {expected_tools: []}}\n'],
  [
    'a default that a query switches off',
    'agent: a\ndefaults: {cost: {max_llm_calls: 3}}\nqueries:\n  - {query: q, cost: {max_llm_calls: null}}\n',
  ],
  [
    'combinators',
    'agent: a\nqueries:\n  - query: q\n    correctness:\n      any:\n        - {expected_in_answer: [x]}\n        - not: {regex_match: y}\n',
  ],
  [
    'a suite of Assay',
    'version: "1"\nsuite: s\ntests:\n  - {id: t, metric: tool_blocklist, blocklist: [rm]}\n',
  ],
] as const;

// The server waits 200 ms before it checks a text. Concurrent tests wait only once.
describe.concurrent('no false error', () => {
  test.each(files)('%s', async (name) => {
    expect(await messages(join(root, name), readFileSync(join(root, name), 'utf8'))).toEqual([]);
  });

  test.each(blocks)('$name', async ({ name, text }) => {
    expect(await messages(join(root, `${name}.yaml`), text)).toEqual([]);
  });

  test.each(written)('%s', async (name, text) => {
    expect(await messages(join(root, `${name}.yaml`), text)).toEqual([]);
  });
});

/** A schema cannot express it: a merge key is resolved before validation. */
const UNSEEN = new Set(['merge-of-a-number.yaml']);

describe.concurrent('bad specs', () => {
  const cases = readdirSync(BAD)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, text: readFileSync(join(BAD, name), 'utf8') }));

  test.each(cases.filter(({ name, text }) => /^# structural$/m.test(text) && !UNSEEN.has(name)))(
    '$name is flagged',
    async ({ name, text }) => {
      expect(await messages(join(BAD, name), text)).not.toEqual([]);
    },
  );

  test.each(cases.filter(({ text }) => !/^# expect:/m.test(text)))(
    '$name only warns, and is not flagged',
    async ({ name, text }) => {
      expect(await messages(join(BAD, name), text)).toEqual([]);
    },
  );

  test.each([
    ['expected_in_answer: []', 'correctness'],
    ['not_in_answer: []', 'correctness'],
    ['llm_judge: []', 'correctness'],
    ['any: []', 'correctness'],
    ['expected_tool_sequence: []', 'path'],
    ['expected_tool_args: []', 'path'],
    ['forbidden_tools: []', 'path'],
    ['forbidden_calls: []', 'path'],
    ['rules: []', 'path'],
    ['expr: []', 'cost'],
    ['code: []', 'cost'],
  ])('an empty list that the loader refuses is flagged: %s', async (line, layer) => {
    const text = `agent: a\nqueries:\n  - query: q\n    ${layer}:\n      ${line}\n`;
    expect(parseSpec(text).suite).toBeUndefined();
    expect(await messages(join(root, `${line}.yaml`), text)).toEqual([
      expect.stringMatching(/^5: /),
    ]);
  });
});
