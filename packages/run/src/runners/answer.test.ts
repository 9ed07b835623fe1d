import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyNoAnswer } from './answer.ts';

test.each([
  { what: 'an empty text', value: '' },
  { what: 'whitespace', value: ' \n\t' },
  { what: 'a no-break space', value: '\u00a0' },
  { what: 'a byte-order mark', value: '\ufeff' },
  { what: 'a zero-width space', value: '\u200b' },
  { what: 'a word joiner and a soft hyphen', value: '\u2060\u00ad' },
  { what: 'a Hangul filler', value: '\u3164' },
  { what: 'a blank Braille cell', value: '\u2800' },
  { what: 'bidirectional controls', value: '\u202e\u2066\u2069' },
  { what: 'null', value: null },
  { what: 'undefined', value: undefined },
  { what: 'the text null', value: 'null\n' },
  { what: 'the text undefined', value: 'undefined\n' },
  { what: 'an object turned into text', value: '[object Object]' },
  { what: 'an empty JSON string', value: '""' },
  { what: 'a JSON string of invisible characters', value: '"\\u200b"' },
  { what: 'an empty object', value: {} },
  { what: 'the text of an empty object', value: '{ }' },
  { what: 'an error object', value: '{"error": "quota exceeded"}' },
  { what: 'an error object of a module', value: { error: { message: 'quota exceeded' } } },
  { what: 'an Error as JSON has it', value: '{"error": {}}' },
  {
    what: 'an error with facts around it',
    value: '{"error": "x", "code": 429, "request_id": "r-1"}',
  },
  {
    what: "Anthropic's error",
    value: '{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}',
  },
  { what: 'an error next to an empty answer', value: '{"error": "x", "answer": ""}' },
  { what: 'an error without an answer', value: '{"error": "x", "answer": null}' },
  { what: 'a list of errors', value: '{"errors": [{"message": "bad"}]}' },
  { what: 'a GraphQL error', value: '{"data": null, "errors": [{"message": "bad"}]}' },
  {
    what: 'a GraphQL error with empty data',
    value: '{"data": {"ask": null}, "errors": [{"message": "bad"}]}',
  },
  { what: "Gemini's list of errors", value: '[{"error": {"code": 429, "message": "quota"}}]' },
  { what: 'a web page', value: '<!DOCTYPE html>\n<html><body>Log in</body></html>' },
  { what: 'a web page without doctype', value: '<html lang="en"><head></head></html>' },
  { what: 'a web page after a comment', value: '\ufeff<!-- proxy -->\n<!doctype html><html>' },
  {
    what: 'a web page after an XML prolog',
    value: '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x" "y"><html>',
  },
  { what: 'a page of one line', value: '<html>502 Bad Gateway</html>' },
  { what: 'a page that breaks off', value: '<!doctype html><html lang="e' },
  { what: 'server-sent events', value: 'data: {"text": "Paris"}\n\ndata: [DONE]\n\n' },
  { what: 'named events', value: 'event: message\r\nid: 1\r\ndata: Paris\r\n' },
  { what: 'events after a comment', value: ': keep-alive\n\ndata: Paris' },
  { what: 'JSON cut off after its indentation', value: '{\n  "answer": "Par' },
  { what: 'JSON cut off after a blank', value: '{ "answer"' },
  { what: 'a list cut off', value: '[\n  1,' },
  { what: 'a lone brace', value: '{' },
  { what: 'a list cut off in a literal', value: '[tru' },
  { what: 'a list cut off in a number', value: '[1.' },
  { what: 'JSON cut off in an escape', value: '{"a": "\\u00' },
  { what: 'JSON lines of which the last is cut off', value: '{"a": 1}\n{"a": 2}\n{"a": ' },
  {
    what: 'a recording cut off after log lines',
    value: 'loading\nready\n{"answer": "Paris", "tool_calls": [{"na',
  },
  {
    what: 'a recording cut off after log lines in JSON',
    value: 'x\n{"level": "info"}\n{"id": 1}\n{"answer": "Pa',
  },
  { what: 'colours alone', value: '\u001b[32m\u001b[0m\n' },
  { what: 'the title of a terminal', value: '\u001b]0;title\u0007' },
  { what: 'null after lines of log', value: 'log\nnull\n' },
  { what: 'an empty object after lines of log', value: 'log\n{}' },
  {
    what: 'an error object after lines of log',
    value: 'starting\n{"error": "model overloaded: npm install failed"}',
  },
  { what: 'an error object before lines of log', value: '{"error": "boom"}\nbye' },
  { what: 'a recording with NaN', value: '{"answer": "ok", "cost_usd": NaN}' },
  {
    what: 'a recording with Infinity in the middle',
    value: 'log\n{"answer": "ok", "latency_ms": -Infinity, "tool_calls": []}',
  },
  { what: 'a recording with a comma too many', value: '{"answer": "ok", "tool_calls": [],}' },
  {
    what: 'a dict of Python',
    value: "{'answer': 'ok', 'tool_calls': [{'name': 't'}], 'cost_usd': None}",
  },
  {
    what: 'a recording cut off in a line of log',
    value: 'INFO done: {"answer": "ok", "tool_calls": [',
  },
  { what: 'a data stream of the AI SDK', value: '0:"Par"\n0:"is"\nd:{"finishReason":"stop"}' },
])('$what is not an answer', ({ value }) => {
  expect(whyNoAnswer(value)).toMatch(/^gave /);
});

test.each([
  'Paris',
  'data: 3 rows found',
  'data: 3 rows found\ndata: 4 rows found',
  'The value is:\nnull',
  'The default is:\n{}',
  'Compare {"answer": 1} with the rest',
  "Pass {'answer': x} to it",
  '\u001b[32mParis\u001b[0m',
  '[]',
  '0',
  'None',
  '[1] see the docs',
  '[link](https://example.com) says so',
  '[link](url)',
  '{name} is a placeholder',
  '{{name}} is one, too',
  '[ ] open\n[x] done',
  '[INFO] all is well',
  '"Paris", he said',
  '"Paris"',
  '"an open quotation',
  '# Title\n\n```json\n{"a": 1}\n```\n',
  '```json\n{"error": "not found"}',
  'function f() { return [',
  '{ return 1; }',
  '<b>Paris</b>',
  '<html> is the root element of a page.',
  '<!doctype html> tells the browser which mode to use.',
  '<htmlx>',
  'data: the plural of datum\nis often used as a singular.',
  'event planning: ask Ann',
  'The API returns:\n{"error": "not_found"}',
  'The file starts with\n{\n  "name": "x",',
  '[]',
  '[{"error": null}]',
  '{"a": 1}',
  '{"a": 1} {and more',
  '{"error": null, "answer": "x"}',
  '{"error": "", "total": 3}',
  '{"errors": [], "valid": true}',
  '{"error": false, "total": 3}',
  '{"error": "rate", "answer": "fell back to the cache"}',
  '{"data": {"ask": "Paris"}, "errors": [{"message": "partial"}]}',
  '{"answer": {}}',
  '\u{1f44d}',
  'ja\u200bein',
])('%s is an answer', (text) => {
  expect(whyNoAnswer(text)).toBeUndefined();
});

test('an agent whose answers are error objects may say so', () => {
  expect(whyNoAnswer('{"error": "x"}', { acceptsErrors: true })).toBeUndefined();
  expect(whyNoAnswer({ error: 'x' }, { acceptsErrors: true })).toBeUndefined();
  expect(whyNoAnswer('{', { acceptsErrors: true })).toMatch(/cut off/);
});

test('every beginning of a JSON object or list that ends before it does is refused, however it is laid out', () => {
  const document = fc
    .tuple(
      fc.oneof(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
        fc.array(fc.jsonValue()),
      ),
      fc.nat(4),
    )
    .map(([value, indent]) => JSON.stringify(value, null, indent));
  fc.assert(
    fc.property(
      document,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (text, share) => {
        const cut = text.slice(0, Math.floor(text.length * share));
        expect(whyNoAnswer(cut)).toBeDefined();
      },
    ),
    { numRuns: 2000 },
  );
});

test('a text of many beginnings takes no longer than its length', () => {
  const started = performance.now();
  whyNoAnswer(`log\n${'{"id":\n'.repeat(200_000)}x`);
  whyNoAnswer('{"a":1}\n'.repeat(200_000));
  expect(performance.now() - started).toBeLessThan(10_000);
});
