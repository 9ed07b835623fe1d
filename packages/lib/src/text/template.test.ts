import { describe, expect, test } from 'vitest';
import { onlySlot, parseTemplate, renderTemplate } from './template.ts';

const vars: Record<string, unknown> = {
  a: 'A',
  n: 3,
  list: ['x', 1],
  'two words': 'tw',
  again: '{{a}}',
  braces: '}}{{',
};
const fill = (text: string): string => {
  const template = parseTemplate(text);
  return template === undefined ? text : renderTemplate(template, (name) => vars[name]);
};

test.each([
  ['no variable', 'no variable'],
  ['{{a}}', 'A'],
  ['-{{ a }}-{{n}}-', '-A-3-'],
  ['{{two words}}', 'tw'],
  ['{{list}}', '["x",1]'],
  ['{{a | json}}', '"A"'],
  ['{{a|json}} {{n|json}}', '"A" 3'],
  ['a value is not read again: {{again}} {{braces}}', 'a value is not read again: {{a}} }}{{'],
  ['\\{{a}}', '{{a}}'],
  ['\\{{a}} {{a}} \\{{', '{{a}} A {{'],
  ['\\\\{{a}}', '\\A'],
  ['\\\\\\{{a}}', '\\{{a}}'],
  ['\\\\\\\\{{a}}', '\\\\A'],
  ['C:\\dir\\\\{{a}}\\x', 'C:\\dir\\A\\x'],
  ['\\{{a}}\\{{n}}', '{{a}}{{n}}'],
  ['{{a}}\\\\{{n}}', 'A\\3'],
  ['{ {a} }', '{ {a} }'],
  ['}} alone', '}} alone'],
])('%j becomes %j', (text, filled) => {
  expect(fill(text)).toBe(filled);
});

test('variables that a backslash makes plain text are known', () => {
  expect(parseTemplate('\\{{a}} {{n}} \\{{ x')!.escaped).toMatchObject([{ name: 'a', start: 1 }]);
});

describe('reports an invalid variable at its braces', () => {
  test.each([
    { text: 'x {{a', at: 2, message: 'never closed' },
    { text: '{{}}', at: 0, message: 'names no variable' },
    { text: 'ab {{ | json }}', at: 3, message: 'names no variable' },
    { text: '{{a | upper}}', at: 0, message: 'the filter "upper"' },
    { text: '{{a | json | json}}', at: 0, message: 'the filter' },
    { text: '{{a {{n}}', at: 0, message: 'names no variable' },
    { text: '{{a\nb}}', at: 0, message: 'names no variable' },
  ])('$text', ({ text, at, message }) => {
    const [mistake] = parseTemplate(text)!.mistakes;
    expect(mistake).toMatchObject({ start: at, message: expect.stringContaining(message) });
  });
});

test('recognizes a text that is one variable', () => {
  expect(onlySlot(parseTemplate('{{n}}')!)?.name).toBe('n');
  expect(onlySlot(parseTemplate('{{n}}.')!)).toBeUndefined();
  expect(onlySlot(parseTemplate('\\{{n}}')!)).toBeUndefined();
});
