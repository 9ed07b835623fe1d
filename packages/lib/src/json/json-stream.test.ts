import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonError } from './json-error.ts';
import { JsonStream, type JsonStreamOptions, type StreamRecord } from './json-stream.ts';

const bytesOf = (input: string | Uint8Array): Uint8Array =>
  typeof input === 'string' ? Buffer.from(input) : input;

/** Reads bytes split at the given offsets. */
function read(
  input: string | Uint8Array,
  options: JsonStreamOptions & { cuts?: readonly number[] } = {},
): StreamRecord[] {
  const bytes = bytesOf(input);
  const stream = new JsonStream(options);
  const records: StreamRecord[] = [];
  let from = 0;
  for (const cut of [...(options.cuts ?? []), bytes.length]) {
    records.push(...stream.push(bytes.subarray(from, cut)));
    from = cut;
  }
  return [...records, ...stream.end()];
}

const values = (records: readonly StreamRecord[]) =>
  records.map((record) => (record.ok ? record.value : record.reason));
const problems = (records: readonly StreamRecord[]) => records.filter((record) => !record.ok);

describe('a stream of JSON', () => {
  test.each<{ when: string; input: string; want: unknown[]; options?: JsonStreamOptions }>([
    { when: 'a document', input: '{\n "a": 1\n}\n', want: [{ a: 1 }] },
    {
      when: 'a list',
      input: '[{"a":1}, 2 ,"x,]",[3],null\n]',
      want: [{ a: 1 }, 2, 'x,]', [3], null],
    },
    { when: 'an empty list', input: ' [ ] ', want: [] },
    {
      when: 'lines',
      input: '{"a":1}\n\n{"a":2}\r\n  \n{"a":3}',
      want: [{ a: 1 }, { a: 2 }, { a: 3 }],
    },
    { when: 'one line', input: '{"a":1}\n', want: [{ a: 1 }] },
    { when: 'lines of lists', input: '[1]\n[2]\n', want: [[1], [2]] },
    { when: 'a bare text', input: '"hello"', want: ['hello'] },
    { when: 'a byte order mark', input: '\uFEFF{"a":1}', want: [{ a: 1 }] },
    {
      when: 'a wrapper',
      input: '{"v":"rows","rows":[{"a":1},{"a":2}],"n":{"rows":[5]}}',
      want: [{ a: 1 }, { a: 2 }],
    },
    {
      when: 'a wrapper with its key inside only',
      input: '{"x":{"rows":[1]}}',
      want: [{ x: { rows: [1] } }],
    },
    { when: 'an escaped quote', input: '["a\\"]",{"b":"\\\\"}]', want: ['a"]', { b: '\\' }] },
    { when: 'several documents', input: '{"a":\n1}\n{"b":\n2}', want: [{ a: 1 }, { b: 2 }] },
    { when: 'nothing', input: '', want: [] },
    { when: 'only spaces', input: ' \n\t\r\n', want: [] },
    {
      when: 'a NUL and a lone surrogate in text',
      input: '{"a":"\\u0000\\ud800"}',
      want: [{ a: '\0\ud800' }],
    },
    {
      when: 'a real U+FFFD',
      input: '{"a":"\uFFFD"}\n{"b":1}\n',
      want: [{ a: '\uFFFD' }, { b: 1 }],
    },
    {
      when: 'pretty JSON in a file named as lines',
      input: '{\n"a": 1\n}',
      want: [{ a: 1 }],
      options: { namedLines: true },
    },
  ])('reads $when', ({ input, want, options }) => {
    expect(values(read(input, { unwrapKey: 'rows', ...options }))).toEqual(want);
  });

  test.each([
    {
      when: 'a broken line',
      input: '{"a":1}\n{"a":}\n{"a":3}\n',
      at: { reason: 'bad-json', line: 2, column: 6 },
      good: 2,
    },
    {
      when: 'a broken first line',
      input: '{"a":\n{"a":2}\n{"a":3}\n',
      at: { reason: 'bad-json', line: 1, column: 6 },
      good: 2,
    },
    {
      when: 'a cut last line',
      input: '{"a":1}\n{"a":"x',
      at: { reason: 'truncated', line: 2, column: 8 },
      good: 1,
    },
    {
      when: 'a cut document',
      input: '{\n "a": [1,\n',
      at: { reason: 'truncated', line: 3, column: 1 },
      good: 0,
    },
    {
      when: 'a cut list',
      input: '[{"a":1},',
      at: { reason: 'truncated', line: 1, column: 10 },
      good: 1,
    },
    {
      when: 'a cut item',
      input: '[{"a":1},\n{"a"',
      at: { reason: 'truncated', line: 2, column: 5 },
      good: 1,
    },
    { when: 'a cut wrapper', input: '{"rows":[1]', at: { reason: 'truncated', line: 1 }, good: 1 },
    {
      when: 'a broken item',
      input: '[1,\n {"a":tru},\n 3]',
      at: { reason: 'bad-json', line: 2, column: 7 },
      good: 2,
    },
    {
      when: 'no comma between items',
      input: '[1 2]',
      at: { reason: 'bad-json', line: 1, column: 4 },
      good: 2,
    },
    {
      when: 'a comma too many',
      input: '[1,,2]',
      at: { reason: 'bad-json', line: 1, column: 4 },
      good: 2,
    },
    {
      when: 'a comma at the end',
      input: '[1,]',
      at: { reason: 'bad-json', line: 1, column: 4 },
      good: 1,
    },
    {
      when: 'the wrong bracket',
      input: '[1}',
      at: { reason: 'bad-json', line: 1, column: 3 },
      good: 1,
    },
    {
      when: 'a stray bracket',
      input: '}',
      at: { reason: 'bad-json', line: 1, column: 1 },
      good: 0,
    },
    { when: 'a word', input: 'hello', at: { reason: 'bad-json', line: 1, column: 1 }, good: 0 },
    {
      when: 'a raw line feed in text',
      input: '{"a":"x\ny"}',
      at: { reason: 'bad-json', line: 1, column: 8 },
      good: 0,
    },
  ])('locates $when', ({ input, at, good }) => {
    const records = read(input, { unwrapKey: 'rows' });
    expect(problems(records)).toMatchObject([at]);
    expect(records.filter(({ ok }) => ok)).toHaveLength(good);
  });

  test('locates bad UTF-8 by its line', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":1}\n{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n{"a":3}\n'),
    ]);
    expect(values(read(bytes))).toEqual([{ a: 1 }, 'bad-utf8', { a: 3 }]);
    expect(problems(read(bytes))).toMatchObject([{ line: 2, column: 7 }]);
    expect(values(read(Buffer.from([0x22, 0xc3, 0x22])))).toEqual(['bad-utf8']);
  });

  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  test.each([
    { when: 'in lines', input: `{"a":1}\n${deep(513)}\n{"a":3}` },
    { when: 'in a list', input: `[{"a":1},${deep(513)},{"a":3}]` },
    { when: 'far beyond', input: `[{"a":1},${deep(200_000)},{"a":3}]` },
  ])('a record nested too deep $when is a problem', ({ input }) => {
    expect(values(read(input))).toEqual([{ a: 1 }, 'too-deep', { a: 3 }]);
  });

  test('512 levels are read', () => {
    expect(values(read(`1\n${deep(512)}\n`))).toEqual([1, expect.any(Array)]);
  });

  test.each([
    { when: 'in lines', input: `{"a":1}\n{"id":"big","b":"${'x'.repeat(300)}"}\n{"a":3}\n` },
    { when: 'in a list', input: `[{"a":1},{"id":"big","b":"${'x'.repeat(300)}"},{"a":3}]` },
  ])('a record above the limit $when is a problem, and the rest is read', ({ input }) => {
    for (const cuts of [[], Array.from({ length: input.length - 1 }, (_, i) => i + 1)]) {
      for (const namedLines of [true, false]) {
        const records = cutRead(Buffer.from(input), { maxRecordBytes: 100, cuts, namedLines });
        if (namedLines && input.startsWith('[')) expect(values(records)).toEqual(['too-large']);
        else expect(values(records)).toEqual([{ a: 1 }, 'too-large', { a: 3 }]);
      }
    }
  });

  test('a large document beyond the first look is read in any chunks', () => {
    const items = Array.from({ length: 3000 }, (_, i) => ({ i, text: 'äöü€😀'.repeat(5) }));
    for (const input of [
      JSON.stringify(items),
      items.map((item) => JSON.stringify(item)).join('\n'),
    ]) {
      const bytes = Buffer.from(input);
      const cuts = Array.from({ length: Math.floor(bytes.length / 997) }, (_, i) => (i + 1) * 997);
      expect(values(read(bytes, { cuts }))).toEqual(items);
    }
  });

  test('chunk borders never change the records', () => {
    const piece = fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc.constantFrom(
        '{"a":',
        ']',
        '{"rows":[1,{"b":"\\"]"}]}',
        '\n',
        ' ',
        ',',
        '"',
        'tru',
        '\\',
        '\uFEFF',
        'é€😀',
      ),
    );
    const joined = fc
      .tuple(fc.array(piece, { maxLength: 6 }), fc.constantFrom('\n', ',', ''))
      .map(([p, by]) => p.join(by));
    const text = fc.oneof(
      joined,
      joined.map((t) => `[${t}]`),
      joined.map((t) => `{"x":1,"rows":[${t}]}`),
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (input, places) => {
        const bytes = Buffer.from(input);
        const cuts = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
        for (const namedLines of [true, false]) {
          expect(cutRead(bytes, { cuts, namedLines })).toEqual(
            cutRead(bytes, { cuts: [], namedLines }),
          );
        }
      }),
      { numRuns: 500 },
    );
  });
});

/**
 * Like `read`, after a blank prefix that fills the detection window, so that splits reach the
 * splitters.
 */
function cutRead(
  bytes: Buffer,
  options: JsonStreamOptions & { cuts: readonly number[] },
): StreamRecord[] {
  const head = Buffer.from(`${' '.repeat(99)}\n`.repeat(700));
  const cuts = [head.length, ...options.cuts.map((cut) => cut + head.length)];
  return read(Buffer.concat([head, bytes]), { unwrapKey: 'rows', ...options, cuts });
}

describe('finding the error in a text', () => {
  test.each([
    ['', 0],
    ['{', 1],
    ['{"a"}', 4],
    ['{"a":1,}', 7],
    ['{a:1}', 1],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['{"a":01}', 6],
    ['"a\\x"', 2],
    ['"\\u12"', 1],
    ['"a', 2],
    ['1 2', 2],
    ['nul', 0],
    ['[}', 1],
    ["{'a':1}", 1],
    ['"\t"', 1],
  ])('%j at %i', (text, offset) => {
    expect(findJsonError(text)?.offset).toBe(offset);
  });

  test('agrees with JSON.parse about valid JSON', () => {
    const text = fc.oneof(
      fc.json(),
      fc.string({
        unit: fc.constantFrom(
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '"',
          '\\',
          '1',
          '-',
          '.',
          'e',
          'null',
          ' ',
          'u',
          'a',
        ),
      }),
    );
    fc.assert(
      fc.property(text, (input) => {
        let isJson = true;
        try {
          JSON.parse(input);
        } catch {
          isJson = false;
        }
        expect(findJsonError(input) === undefined).toBe(isJson);
      }),
      { numRuns: 2000 },
    );
  });
});
