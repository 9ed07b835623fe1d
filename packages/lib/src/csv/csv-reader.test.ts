import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvMistake, type CsvRecord, readCsv } from './csv-reader.ts';

const records = (text: string): (CsvRecord | CsvMistake)[] => [...readCsv(text)];
const cells = (text: string): (readonly string[] | string)[] =>
  records(text).map((record) => ('cells' in record ? record.cells : record.message));

test.each([
  {
    what: 'plain cells',
    text: 'a,b\n1,2\n',
    found: [
      ['a', 'b'],
      ['1', '2'],
    ],
  },
  {
    what: 'CRLF and no line break at the end',
    text: 'a,b\r\n1,2',
    found: [
      ['a', 'b'],
      ['1', '2'],
    ],
  },
  {
    what: 'CR alone',
    text: 'a,b\r1,2\r',
    found: [
      ['a', 'b'],
      ['1', '2'],
    ],
  },
  {
    what: 'quotes around commas and line breaks',
    text: '"a,1","b\r\nc"\n',
    found: [['a,1', 'b\r\nc']],
  },
  { what: 'doubled quotes', text: '"say ""hi"""', found: [['say "hi"']] },
  {
    what: 'empty cells, the last one too',
    text: 'a,,\n,,b\n',
    found: [
      ['a', '', ''],
      ['', '', 'b'],
    ],
  },
  { what: 'a comma as the last character', text: 'a,', found: [['a', '']] },
  { what: 'blank lines are not records', text: '\n\na\n\n\nb\n\n', found: [['a'], ['b']] },
  { what: 'an empty cell in quotes is a record', text: 'a\n""\n', found: [['a'], ['']] },
  { what: 'spaces are part of a cell', text: ' a , b ', found: [[' a ', ' b ']] },
  { what: 'nothing', text: '', found: [] },
])('$what', ({ text, found }) => {
  expect(cells(text)).toEqual(found);
});

describe('mistakes are yielded with their place, and the next record is read', () => {
  test.each([
    { text: 'a\n"b" c\nd', at: 5, message: 'text after the closing quote' },
    { text: 'a\nb "c"\nd', at: 4, message: 'a quote inside of a cell' },
    { text: 'a\n"b\nd', at: 2, message: 'never closed' },
  ])('$text', ({ text, at, message }) => {
    const mistake = records(text).find((record): record is CsvMistake => 'message' in record);
    expect(mistake?.message).toContain(message);
    expect(mistake?.start).toBe(at);
    if (!message.includes('never')) expect(records(text).at(-1)).toMatchObject({ cells: ['d'] });
  });
});

const cell = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('', 'a', ',', '"', '""', '\n', '\r\n', '\r', ' ', 'é', '{{x}}', '1e3'),
);
const quoted = (value: string, always: boolean): string =>
  always || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

test('reads what csv-parse reads, and knows where each cell is', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(cell, fc.boolean()), { minLength: 2, maxLength: 4 }), {
        maxLength: 6,
      }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      (rows, lineEnd, hasLast) => {
        const lines = rows.map((row) =>
          row.map(([value, always]) => quoted(value, always)).join(','),
        );
        const text = lines.join(lineEnd) + (hasLast && lines.length > 0 ? lineEnd : '');
        const theirs = parse(text, {
          relax_column_count: true,
          record_delimiter: lineEnd,
          bom: false,
        }) as string[][];
        expect(cells(text)).toEqual(theirs);
        for (const record of records(text)) {
          if (!('cells' in record)) throw new Error(record.message);
          for (const [i, start] of record.starts.entries()) {
            const value = record.cells[i]!;
            const isQuoted = text[start] === '"';
            expect(text.startsWith(isQuoted ? quoted(value, true) : value, start)).toBe(true);
          }
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('any text is read to its end without an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ') }), (text) => {
      for (const record of records(text)) {
        if ('cells' in record) expect(record.cells.length).toBe(record.starts.length);
        else expect(record.start).toBeLessThanOrEqual(text.length);
      }
    }),
    { numRuns: 2000 },
  );
});
