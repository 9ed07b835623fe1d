import { compileJsonSchema } from '@agentci/lib/json-schema';
import { parseYaml, toPlain } from '@agentci/lib/yaml';
import { expect, test } from 'vitest';
import { parsePolicy } from './parse-policy.ts';
import { policyJsonSchema } from './policy-json-schema.ts';

const compiled = compileJsonSchema(policyJsonSchema());

// Schema and loader must accept and reject the same policies.
test.each([
  [
    'explicit nulls',
    'version: "2.0"\ntools: {allow: null, deny: [rm], allow_classes: null}\nschemas: null\nenforcement: null\nlimits: null\nsignatures: null\n',
  ],
  [
    'a plain map of schemas',
    'a: {type: object, properties: {path: {type: string}}, required: [path]}\n',
  ],
  ['a plain map of schemas with a version', 'version: 1\na: {type: object, required: [path]}\n'],
  ['tools that are denied', 'tools: {deny: [a]}\n'],
  ['lists at the root', 'deny: [a]\nallow: []\n'],
  ['an empty list of denied tools', 'tools: {deny: []}\n'],
  ['an empty list of allowed tools', 'tools: {allow: []}\n'],
  ['an unknown key', 'blocklst: [a]\n'],
  [
    'an unknown key that looks like a schema beside rules',
    'blocklist: [a]\nread: {type: object, required: [path]}\n',
  ],
  ['an unknown key with a type beside tools', 'tools: {deny: [a]}\nlimitz: {type: object}\n'],
  [
    'a map of schemas beside a key that is empty',
    'blocklist: null\nread: {type: object, required: [path]}\n',
  ],
  ['a map of schemas with a name', 'name: x\nversion: 1\nread: {type: object}\n'],
  ['a map of schemas beside on_error', 'on_error: block\nread: {type: object}\n'],
  ['an empty unknown key beside rules', 'blocklist: [a]\nread: null\n'],
  ['an unknown rule', 'rules: [{type: befor, first: a, then: b}]\n'],
  ['a flow without its verdict', 'flows: [{from: {tool: a}, to: {tool: b}}]\n'],
  ['an unknown kind of personal data', 'rules: [{type: detect, pii: [ibann]}]\n'],
  ['an empty blocklist', 'blocklist: []\n'],
])('%s', (_, text) => {
  if (!compiled.ok) throw new Error(compiled.message);
  const { diagnostics } = parsePolicy(text, { file: 'policy.yaml' });
  const isAccepted = diagnostics.every(({ severity }) => severity !== 'error');
  const { root } = parseYaml(text, { file: 'policy.yaml' });
  expect(compiled.validate(toPlain(root!)).valid).toBe(isAccepted);
});
