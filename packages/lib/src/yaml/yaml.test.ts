import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { parseYaml } from './yaml.ts';
import { locationAt, toPlain } from './yaml-node.ts';

const parse = (text: string) => parseYaml(text, { file: 'a.yaml', tags: ['!include'] });
const plain = (text: string) => {
  const { root, diagnostics } = parse(text);
  expect(diagnostics).toEqual([]);
  return toPlain(root!);
};
const codes = (text: string) =>
  parse(text).diagnostics.map((d) => `${d.code} ${d.line}:${d.column}`);

describe('values of the YAML 1.2 core schema', () => {
  test.each([
    ['a: 1', { a: 1 }],
    ['a: -0x1F', { a: '-0x1F' }],
    ['a: 0x1F', { a: 31 }],
    ['a: 0o17', { a: 15 }],
    ['a: 017', { a: 17 }],
    ['a: 1.5e3', { a: 1500 }],
    ['a: .5', { a: 0.5 }],
    ['a: 1_000', { a: '1_000' }],
    ['a: .inf', { a: Number.POSITIVE_INFINITY }],
    ['a: -.INF', { a: Number.NEGATIVE_INFINITY }],
    ['a: .nan', { a: Number.NaN }],
    ['a: [true, False, yes, on, No]', { a: [true, false, 'yes', 'on', 'No'] }],
    ['a: [~, null, NULL, "null", nil]', { a: [null, null, null, 'null', 'nil'] }],
    ['a: "1"', { a: '1' }],
    ["a: 'it''s'", { a: "it's" }],
    ['a: "\\u00e9\\n"', { a: 'é\n' }],
    ['a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    ['a: >-\n  x\n  y\n', { a: 'x y' }],
    ['a: !!str 3', { a: '3' }],
    ['a: !!int "3"', { a: 3 }],
    ['a: !!float 3', { a: 3 }],
    ['a: ! 3', { a: '3' }],
    ['a: 2026-01-01', { a: '2026-01-01' }],
    ['a:', { a: null }],
    ['- 1\n-\n- b', [1, null, 'b']],
    ['\uFEFFa: 1', { a: 1 }],
    ['---\na: 1\n...\n', { a: 1 }],
    ['x: &x {a: 1}\ny: *x', { x: { a: 1 }, y: { a: 1 } }],
    ['x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}', { x: { a: 1, b: 2 }, y: { b: 3, a: 1 } }],
    [
      'p: &p {a: 1}\nq: &q {a: 2, b: 2}\ny: {<<: [*p, *q]}',
      { p: { a: 1 }, q: { a: 2, b: 2 }, y: { a: 1, b: 2 } },
    ],
    ['"<<": 1', { '<<': 1 }],
  ])('%j', (text, value) => {
    expect(plain(text)).toEqual(value);
  });

  test('prototype keys are ordinary keys', () => {
    const value = plain('__proto__: {polluted: 1}\nconstructor: 2\nhasOwnProperty: 3') as Record<
      string,
      unknown
    >;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
    expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('a tag the caller asked for is kept on the node', () => {
    const { root } = parse('a: !include b.yaml');
    expect(root?.kind === 'map' && root.entries.get('a')?.value).toMatchObject({
      tag: '!include',
      value: 'b.yaml',
      start: 3,
    });
  });
});

describe('refused input, with its position', () => {
  test.each([
    ['an empty text', '', ['YAML_EMPTY 1:1']],
    ['comments only', '# x\n# y\n', ['YAML_EMPTY 1:1']],
    ['a null document', '---\n~\n', ['YAML_EMPTY 1:1']],
    ['a tab as indentation', 'a:\n\tb: 1\n', ['YAML_SYNTAX 2:1']],
    [
      'every duplicate key',
      'a: 1\nb: 2\na: 3\nb: 4\n',
      ['YAML_DUPLICATE_KEY 3:1', 'YAML_DUPLICATE_KEY 4:1'],
    ],
    ['a duplicate in a flow map', 'x: {a: 1, a: 2}', ['YAML_DUPLICATE_KEY 1:11']],
    ['an alias nobody defined', 'a:\n  - *_dangerous\n', ['YAML_SYNTAX 2:5']],
    ['an alias inside its own value', 'a: &a [1, *a]', ['YAML_SYNTAX 1:11']],
    ['a bare star', 'a: [*]', ['YAML_SYNTAX 1:6']],
    ['a second document', 'a: 1\n---\nb: 2\n', ['YAML_SYNTAX 2:1']],
    ['an unknown tag', 'a: !!python/object:os.system x', ['YAML_SYNTAX 1:4']],
    ['an unknown tag before a map', 'a: !thing {b: 1}', ['YAML_SYNTAX 1:4']],
    ['a value that does not fit its tag', 'a: !!int x', ['YAML_SYNTAX 1:4']],
    ['a number as key', '1: x', ['YAML_SYNTAX 1:1']],
    ['a list as key', '? [a]\n: 1\n', ['YAML_SYNTAX 1:3']],
    ['a merge of something else', 'a: {<<: 3}', ['YAML_SYNTAX 1:9']],
    ['bad indentation', 'a: 1\n b: 2\n', ['YAML_SYNTAX 2:2']],
    ['an open bracket', 'a: [1, 2\n', ['YAML_SYNTAX 2:1']],
    ['a bad escape', 'a: "\\q"', ['YAML_SYNTAX 1:6']],
    ['brackets nested too deep', `${'['.repeat(200)}${']'.repeat(200)}`, ['YAML_TOO_LARGE 1:100']],
  ])('%s', (_, text, expected) => {
    expect(codes(text)).toEqual(expected);
  });

  test('aliases that multiply are stopped before they are expanded', () => {
    const levels = Array.from(
      { length: 30 },
      (_, i) =>
        `l${i}: &l${i} [${Array(10)
          .fill(i === 0 ? 'x' : `*l${i - 1}`)
          .join(', ')}]`,
    );
    expect(codes(levels.join('\n'))).toEqual([expect.stringMatching(/^YAML_TOO_LARGE 6:/)]);
  });

  test('aliases of long text weigh by their length', () => {
    const text = `a: &a "${'x'.repeat(1_000_000)}"\nb: [${Array(100).fill('*a').join(', ')}]`;
    expect(codes(text)).toEqual([expect.stringMatching(/^YAML_TOO_LARGE 2:/)]);
  });

  test('aliases cannot build a value that nests too deep', () => {
    const levels = Array.from(
      { length: 300 },
      (_, i) => `l${i}: &l${i} [${i === 0 ? 'x' : `*l${i - 1}`}]`,
    );
    expect(codes(levels.join('\n'))[0]).toMatch(/^YAML_TOO_LARGE/);
  });

  test('more than ten million characters are not parsed', () => {
    expect(codes('x'.repeat(10_000_001))).toEqual(['YAML_TOO_LARGE 1:1']);
  });
});

describe('places', () => {
  const text = [
    'a: &x',
    '  b: "q"',
    '  c: |  # > not this',
    '    text',
    '  d:',
    'l:',
    '  -  [1, two]',
    'e: *x',
    '',
  ].join('\n');
  const { root } = parse(text);
  test.each([
    [['a'], 'key', '1:1'],
    [['a'], 'value', '2:3'],
    [['a', 'b'], 'value', '2:6'],
    [['a', 'c'], 'value', '3:6'],
    [['a', 'd'], 'value', '5:3'],
    [['l', 0], 'value', '7:6'],
    [['l', 0, 1], 'value', '7:10'],
    [['e'], 'key', '8:1'],
    [['e', 'b'], 'value', '2:6'],
    [['a', 'absent', 'deeper'], 'value', '2:3'],
  ] as const)('%j %s is at %s', (path, part, expected) => {
    const { line, column } = locationAt(root!, path, part);
    expect(`${line}:${column}`).toBe(expected);
  });

  test.each(['a: 1\r\nb: [*x]\r\n', 'a: 1\rb: [*x]\r'])(
    'line ends of other systems count once: %j',
    (windows) => {
      expect(codes(windows)).toEqual(['YAML_SYNTAX 2:5']);
    },
  );
});

describe('any text', () => {
  test('JSON is YAML and keeps its value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        fc.pre(value !== null);
        expect(plain(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('what js-yaml writes is read back', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const normal = JSON.parse(JSON.stringify(value));
        expect(plain(dump(normal))).toEqual(normal);
      }),
    );
  });

  test('nothing makes the reader throw, and every place lies inside the text', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '\t',
      '[',
      ']',
      '{',
      '}',
      '*a',
      '&a ',
      '!t ',
      '"',
      "'",
      '|',
      '>',
      '#',
      '---',
      '<<',
      '%',
      '\u0000',
      '~',
      ',',
      '?',
      '1',
      '\r',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const lines = text.split(/\r\n|\n|\r/);
        for (const { line, column } of parse(text).diagnostics) {
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
