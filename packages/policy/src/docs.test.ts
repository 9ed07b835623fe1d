import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { compileJsonSchema } from '@agentci/lib/json-schema';
import { parseYaml, toPlain } from '@agentci/lib/yaml';
import { describe, expect, test } from 'vitest';
import { testExample } from './examples.ts';
import { parsePolicy } from './parse-policy.ts';
import { policyJsonSchema } from './policy-json-schema.ts';
import { RULES } from './rules/index.gen.ts';

const docs = new URL('../../../docs/policies/', import.meta.url);
const page = (name: string): string => readFileSync(new URL(name, docs), 'utf8');
const policies = (text: string): string[] =>
  [...text.matchAll(/```yaml\n(# policy\n[\s\S]*?)```/g)].map((match) => match[1]!);
const index = page('README.md');

describe('every rule has a page', () => {
  test.each(RULES.map(({ type, fields }) => ({ type, fields: Object.keys(fields) })))(
    '$type, with an example of itself',
    ({ type, fields }) => {
      expect(existsSync(new URL(`${type}.md`, docs))).toBe(true);
      expect(index).toContain(`[${type}](${type}.md)`);
      const [example = ''] = policies(page(`${type}.md`));
      const { policy } = parsePolicy(example, { file: `${type}.md` });
      expect(policy?.rules.map((rule) => rule.type)).toEqual([type]);
      expect(page(`${type}.md`)).toContain(`\`${policy?.rules[0]?.id}\``);
      for (const field of fields) expect(page(`${type}.md`)).toContain(field);
    },
  );
});

test.each(readdirSync(docs).filter((name) => name.endsWith('.md')))(
  'every policy in %s loads',
  (name) => {
    for (const example of policies(page(name)))
      expect(parsePolicy(example, { file: name }).diagnostics).toEqual([]);
  },
);

test('the schema for editors accepts every policy of the docs, and refuses slips', () => {
  const compiled = compileJsonSchema(policyJsonSchema());
  if (!compiled.ok) throw new Error(compiled.message);
  for (const name of readdirSync(docs).filter((each) => each.endsWith('.md')))
    for (const example of policies(page(name))) {
      const { root } = parseYaml(example, { file: name });
      expect([name, compiled.validate(toPlain(root!))]).toMatchObject([name, { valid: true }]);
    }
  for (const slip of [
    { ruls: [] },
    { rules: [{ type: 'expr' }] },
    { flows: [{ from: 'a', to: 'b' }] },
  ])
    expect(compiled.validate(slip).valid).toBe(false);
});

describe('every guardrail of the docs allows one example and denies another', () => {
  const guardrails = policies(page('guardrails.md'));
  const titles = [...page('guardrails.md').matchAll(/^## (.+)$/gm)].map((match) => match[1]!);
  test('there are thirty of them', () => expect(guardrails.length).toBeGreaterThanOrEqual(30));
  test.each(guardrails.map((text, i) => [titles[i]!, text]))('%s', (_, text) => {
    const { policy } = parsePolicy(text, { file: 'guardrails.md' });
    expect(policy?.examples.map(({ expect: wanted }) => wanted)).toEqual(['allow', 'deny']);
    const reports = policy!.examples.map((example) => testExample(example, policy!));
    expect(
      reports.map(({ status, got, reasons }) => [
        status,
        got,
        ...(status === 'pass' ? [] : reasons),
      ]),
    ).toEqual([
      ['pass', 'allow'],
      ['pass', 'deny'],
    ]);
  });
});

test('the policies that the sample spec and the demo use load', () => {
  expect(parsePolicy(page('tools.yaml'), { file: 'tools.yaml' }).diagnostics).toEqual([]);
  expect(
    parsePolicy(page('../../demos/policy/policy.yaml'), { file: 'policy.yaml' }).diagnostics,
  ).toEqual([]);
});
