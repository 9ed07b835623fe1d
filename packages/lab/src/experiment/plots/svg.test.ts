import { escapeLatex } from '@agentci/lib/text';
import { expect, test } from 'vitest';
import { scaleOf } from './scale.ts';
import { fittedName } from './svg.ts';

test('names that begin alike are still told apart when they are cut, and fit', () => {
  const names = [
    'anthropic-claude-sonnet-4-5-with-tools-a',
    'anthropic-claude-sonnet-4-5-with-tools-b',
  ];
  const cut = names.map((name) => fittedName(name, 150));
  expect(new Set(cut).size).toBe(2);
  for (const name of cut) expect(name.length).toBeLessThan(26);
  expect(fittedName('short', 150)).toBe('short');
  expect(fittedName('WWWWWWWWWWWWWWWWWWWW', 150).length).toBeLessThan(16);
});

test.each([
  { what: 'prices that are all alike', values: [0.01, 0.01] },
  { what: 'nothing but 0', values: [0, 0] },
  { what: 'prices', values: [0.001, 0.02] },
])('an axis without negative values does not start below 0: $what', ({ values }) => {
  const { ticks, at } = scaleOf(values, { from: 0, to: 100, least: 0 });
  expect(ticks[0]).toBeGreaterThanOrEqual(0);
  for (const value of values) {
    expect(at(value)).toBeGreaterThanOrEqual(0);
    expect(at(value)).toBeLessThanOrEqual(100);
  }
});

test('LaTeX has commands of the kernel alone', () => {
  expect(escapeLatex('say "x" <y>')).toBe("say ''x'' \\textless{}y\\textgreater{}");
});
