import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LanguageClient } from '@agentci/testing/language-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// The YAML language server of most editors must not flag policies that the loader accepts.

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const schema = pathToFileURL(join(root, 'schema/agentci-policy.schema.json')).href;
const require = createRequire(import.meta.url);
const server = join(
  dirname(require.resolve('yaml-language-server/package.json')),
  'bin/yaml-language-server',
);
const settings = {
  yaml: { validate: true, schemas: { [schema]: ['*.yaml'] }, schemaStore: { enable: false } },
};

let client: LanguageClient;
beforeAll(async () => {
  client = new LanguageClient([process.execPath, server, '--stdio'], { cwd: root, settings });
  await client.initialize(root);
  await client.connection.sendNotification('workspace/didChangeConfiguration', { settings });
});
afterAll(() => client.close());

const messages = async (name: string, text: string): Promise<string[]> =>
  (await client.open(join(root, `${name.replace(/\W+/g, '-')}.yaml`), text)).map(({ message }) =>
    String(message),
  );

const below = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => !name.includes('node_modules'));
const files = below('demos')
  .filter((name) => /polic(?:y|ies)[\w-]*\.yaml$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }));
const blocks = below('docs')
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    [
      ...readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n(# policy\n[\s\S]*?)^```/gm),
    ].map(([, text], i) => ({
      name: `${page} ${i + 1}`,
      text: text!,
    })),
  );

describe.concurrent('no false error', () => {
  test.each([...files, ...blocks])('$name', async ({ name, text }) => {
    expect(await messages(name, text)).toEqual([]);
  });

  test.each([
    [
      'explicit nulls',
      'version: "2.0"\ntools: {allow: null, deny: [rm]}\nschemas: null\nlimits: null\ntool_pins: null\n',
    ],
    [
      'a plain map of schemas',
      'read: {type: object, properties: {path: {type: string}}, required: [path]}\n',
    ],
  ])('%s', async (name, text) => {
    expect(await messages(name, text)).toEqual([]);
  });
});

describe.concurrent('what the loader refuses is flagged', () => {
  test.each([
    ['an empty list', 'tools: {deny: []}\n'],
    ['an unknown rule', 'rules: [{type: befor, first: a, then: b}]\n'],
    ['an unknown key', 'blocklst: [a]\n'],
    ['a flow without its verdict', 'flows: [{from: {tool: a}, to: {tool: b}}]\n'],
  ])('%s', async (name, text) => {
    expect(await messages(name, text)).not.toEqual([]);
  });
});
