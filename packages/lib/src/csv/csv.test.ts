import { expect, test } from 'vitest';
import { parseCsv } from './csv.ts';

test.each([
  {
    text: 'a,b\n1,2\n',
    rows: [
      ['a', 'b'],
      ['1', '2'],
    ],
  },
  {
    text: '"a,1","b ""q"""\r\n"two\nlines",x',
    rows: [
      ['a,1', 'b "q"'],
      ['two\nlines', 'x'],
    ],
  },
  {
    text: 'a,\n\n,b',
    rows: [
      ['a', ''],
      ['', 'b'],
    ],
  },
  { text: '\uFEFFa\n', rows: [['a']] },
  { text: '', rows: [] },
])('CSV $text', ({ text, rows }) => {
  expect(parseCsv(text).rows.map(({ cells }) => cells)).toEqual(rows);
});

test('CSV rows know their line, and an open quote is reported', () => {
  expect(parseCsv('a\n"x\ny"\nz').rows.map(({ line }) => line)).toEqual([1, 2, 4]);
  expect(parseCsv('a\n"x').unclosed).toBe(2);
});
