import { METRICS } from '@agentci/metrics';
import { Validator } from '@cfworker/json-schema';
import { expect, test } from 'vitest';
import { specJsonSchema } from './json-schema.ts';

const schema = specJsonSchema() as {
  definitions: { metric_map: { properties: Record<string, { description: string }> } };
};
const validator = new Validator(specJsonSchema(), '7', false);
const accepts = (metrics: unknown, place: 'root' | 'query' = 'query'): boolean =>
  validator.validate({
    version: 1,
    agent: 'a',
    use: ['./tone.ts'],
    ...(place === 'root' ? { metrics } : {}),
    queries: [{ query: 'q', ...(place === 'query' ? { metrics } : {}) }],
  }).valid;

test('an editor can complete and explain every metric of the catalogue, with its parameters', () => {
  const { properties } = schema.definitions.metric_map;
  expect(Object.keys(properties)).toEqual(METRICS.map(({ name }) => name));
  for (const { name, summary } of METRICS) expect(properties[name]?.description).toContain(summary);
  expect(JSON.stringify(properties.pii_leakage)).toContain('check_tool_arguments');
  expect(JSON.stringify(specJsonSchema())).toContain(
    JSON.stringify(METRICS.map(({ name }) => name)),
  );
});

test.each([
  ['names', ['faithfulness', 'tone_of_my_own']],
  ['a bound in a list', [{ faithfulness: 0.5 }, 'cost']],
  ['a map', { faithfulness: 0.5, cost: { max: 2 }, latency: null }],
  ['parameters', { pii_leakage: { min: 1, formula: 'max', severity: 'warn' } }],
  [
    'a metric of a module, with parameters nobody knows here',
    { tone_of_my_own: { min: 1, word: 'please' } },
  ],
])('%s are accepted', (_, metrics) => {
  expect(accepts(metrics)).toBe(true);
  expect(accepts(metrics, 'root')).toBe(true);
});

test.each([
  ['a bound that no fraction has', { faithfulness: 90 }],
  ['a misspelt parameter', { pii_leakage: { formul: 'max' } }],
  ['a value the parameter cannot have', [{ pii_leakage: { formula: 'sum' } }]],
  ['two metrics in one item', [{ cost: 1, latency: 2 }]],
  ['a name with a blank', { 'my tone': 1 }],
  ['a bound of a metric of a module that is no number', { tone_of_my_own: 'high' }],
  ['nothing', {}],
  ['an empty list', []],
])('%s is refused', (_, metrics) => {
  expect(accepts(metrics)).toBe(false);
});
