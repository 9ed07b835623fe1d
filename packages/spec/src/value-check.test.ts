import { afterEach, expect, test, vi } from 'vitest';
import { parseSpec } from './parse-spec.ts';

afterEach(() => vi.unstubAllGlobals());

test('a spec is checked without compiling its schemas', () => {
  const compile = vi.fn();
  vi.stubGlobal('Function', compile);
  const { suite, diagnostics } = parseSpec(`agent: a
judge_config: { model: m }
runner: { command: [node, agent.mjs] }
queries:
  - { query: q, cost: { max_llm_calls: 1 } }
`);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(suite?.queries).toHaveLength(1);
  expect(compile).not.toHaveBeenCalled();
});
