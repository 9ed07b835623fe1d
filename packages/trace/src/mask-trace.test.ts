import { expect, test } from 'vitest';
import { maskTrace, secretsInTrace, withoutMasked } from './mask-trace.ts';
import { simpleTrace } from './simple.ts';

const KEY = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const trace = simpleTrace({
  query: `use ${KEY}`,
  answer: `used ${KEY}`,
  tool_calls: [{ name: 'login', args: { key: KEY }, result: 'ok' }],
});

test('a stored trace has no credential-shaped text, and reports that it was masked', () => {
  const masked = maskTrace(trace);
  expect(JSON.stringify(masked)).not.toContain(KEY);
  expect(masked).toMatchObject({
    masked: ['api_key'],
    final: { text: 'used [api_key]' },
    steps: [{ args: { key: '[api_key]' }, result: 'ok' }],
  });
  expect([...secretsInTrace(trace)]).toEqual(['api_key']);
});

test('masked values count as not captured when judged again', () => {
  const seen = withoutMasked(maskTrace(trace));
  expect(seen.captured).toMatchObject({ toolArgs: 'partial', final: 'none' });
});

test('a trace without one is the same object', () => {
  const plain = simpleTrace({ answer: 'the task is risky', tool_calls: [] });
  expect(maskTrace(plain)).toBe(plain);
});
