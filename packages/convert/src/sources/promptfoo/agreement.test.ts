import { readFileSync } from 'node:fs';
import { convertFiles } from '@agentci/testing/convert';
import { expect, test } from 'vitest';

// The verdicts of promptfoo 0.121.20 on these answers. Update them with `npm run agree:promptfoo --
// --write`.
interface Pair {
  readonly id: string;
  readonly output: string;
  readonly assert: readonly object[];
  readonly threshold?: number;
  readonly promptfoo: boolean | string;
}
const file = new URL('../../../../testing/vectors/promptfoo-verdicts.json', import.meta.url);
const PAIRS = JSON.parse(readFileSync(file, 'utf8')) as readonly Pair[];

test('exact assertions have the same verdict as in promptfoo', async () => {
  const config = {
    prompts: ['{{id}}'],
    providers: ['echo'],
    tests: PAIRS.map(({ id, output, assert, threshold }) => ({
      description: id,
      vars: { id },
      providerOutput: output,
      assert,
      ...(threshold === undefined ? {} : { threshold }),
    })),
  };
  const { judge } = await convertFiles({ 'promptfooconfig.json': config });
  const ours = await judge(PAIRS.map(({ id, output }) => ({ id, query: id, answer: output })));
  const judged = PAIRS.filter(({ id }) => ours[id] !== 'skip');
  expect(judged.length).toBeGreaterThan(600);
  const wanted = (verdict: boolean | string): readonly string[] =>
    verdict === true ? ['pass', 'warn'] : ['fail'];
  expect(judged.filter(({ id, promptfoo }) => !wanted(promptfoo).includes(ours[id]!))).toEqual([]);
});
