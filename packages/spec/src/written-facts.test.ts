import { expect, test } from 'vitest';
import { parseSpec } from './parse-spec.ts';

const factsOf = (lines: string): unknown => {
  const text = `agent: a
vars: {zip: "02139"}
defaults: {tags: [x]}
queries:
  - id: q
    conversation:
      start: hi
      user:
        goal: a refund
        facts:
${lines.replace(/^/gm, '          ')}
    path: {max_tool_calls: 1}
`;
  const { suite, diagnostics } = parseSpec(text, { file: 'spec.yaml' });
  if (suite === undefined) throw new Error(JSON.stringify(diagnostics));
  return suite.queries[0]!.conversation!.user!.facts;
};

test.each([
  { line: 'pin: 0042', text: '0042' },
  { line: 'phone: +491712345678', text: '+491712345678' },
  { line: 'price: 12.50', text: '12.50' },
  { line: 'card: 41111111111112345678', text: '41111111111112345678' },
  { line: 'order: 42 # the newest', text: '42' },
  { line: 'flight: 1e5', text: '1e5' },
  { line: 'code: 0x1F', text: '0x1F' },
  { line: 'quoted: "0042"', text: '0042' },
  { line: "zip: '{{zip}}'", text: '02139' },
  { line: 'tagged: !!int 0042', text: '42' },
  { line: 'anchored: &a 0042', text: '0042' },
])('a fact keeps its written form: $line', ({ line, text }) => {
  expect(factsOf(line)).toEqual({ [line.split(':')[0]!]: text });
});

test('facts on one line are kept as well', () => {
  const line = 'facts: {a: 007, b: 1.50, c: +49171}';
  const text = `{agent: a, queries: [{id: q, conversation: {start: hi, user: {goal: x, ${line}}}, path: {max_tool_calls: 1}}]}`;
  const { suite } = parseSpec(text, { file: 'spec.yaml' });
  expect(suite?.queries[0]?.conversation?.user?.facts).toEqual({
    a: '007',
    b: '1.50',
    c: '+49171',
  });
});
