import { join } from 'node:path';
import { loadSpec } from '@agentci/spec';
import { node, ROOT, VITEST } from '@agentci/testing/node';
import { expect, test } from 'vitest';

const demo = join(ROOT, 'demos', 'vitest');

/** Names of the executed queries, and the exit code. */
async function shard(...args: string[]): Promise<{ code: number | null; ids: string[] }> {
  const { code, text } = await node(
    [VITEST, 'run', '--root', demo, '--reporter=json', ...args],
    demo,
  );
  const report = JSON.parse(text.slice(text.indexOf('{'))) as {
    testResults: { assertionResults: { title: string; ancestorTitles: string[] }[] }[];
  };
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return { code, ids: tests.flatMap(({ title }) => /^([\w-]+): /.exec(title)?.[1] ?? []).sort() };
}

test('two machines with vitest --shard run every query of the specs once', async () => {
  const { suite } = await loadSpec(join(demo, 'agentci_spec.yaml'));
  const story = (
    await loadSpec(join(ROOT, 'demos', 'rag', 'agentci_spec.yaml'))
  ).suite.queries.filter(({ tags }) => tags.includes('story'));
  const [first, second] = await Promise.all([shard('--shard=1/2'), shard('--shard=2/2')]);
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(first.ids.length).toBeGreaterThan(0);
  expect(second.ids.length).toBeGreaterThan(0);
  expect([...first.ids, ...second.ids].sort()).toEqual(
    [...suite.queries, ...story].map(({ id }) => id).sort(),
  );
});

test('node:test runs the same spec', async () => {
  const { code, text } = await node(['--test', '--test-reporter=spec', 'node.test.mjs'], demo);
  expect(text).toContain('✔ refund-small: Please refund ord_2');
  expect(text).toContain('# expected failure: the desk does not greet yet');
  expect(code).toBe(0);
});
