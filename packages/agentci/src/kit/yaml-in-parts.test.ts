import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { parseYaml } from './yaml.ts';
import { composeInParts } from './yaml-in-parts.ts';
import { locate, type YamlNode, type YamlSource } from './yaml-node.ts';

/** A tree with the place of every key and value, so that two readings can be compared. */
function shown(node: YamlNode): unknown {
  const { source, start } = node;
  const { line, column } = locate(source, start);
  const place = `${line}:${column}`;
  if (node.kind === 'scalar') return [place, node.style, node.value, node.tag];
  if (node.kind === 'seq') return [place, node.items.map(shown)];
  return [
    place,
    [...node.entries.values()].map((entry) => [
      entry.key,
      locate(source, entry.keyStart),
      shown(entry.value),
    ]),
  ];
}

const inParts = (text: string): YamlNode | undefined => {
  const source: YamlSource = { file: 'a.yaml', text };
  return composeInParts(source, new Set(['!include']), 'queries', 100);
};

const whole = (text: string): YamlNode =>
  parseYaml(text, { file: 'a.yaml', tags: ['!include'] }).root!;

const item = (id: string): string =>
  `  - id: ${id}\n    schema: {type: object, required: [a, b], properties: {a: {type: string}}}\n    tools: [search, answer]\n`;
const items = (count: number): string =>
  Array.from({ length: count }, (_, i) => item(`q${i}`)).join('');

describe('a long list read in parts', () => {
  it.each<readonly [name: string, text: string]>([
    ['a head, a list and a tail', `version: 1\nqueries:\n${items(9)}runner: {module: ./a.mjs}\n`],
    ['no tail', `version: 1\nqueries:\n${items(9)}`],
    [
      'a document marker at the top',
      `---\nversion: 1\nqueries: # all of them\n\n  # the first\n${items(9)}`,
    ],
    ['items that are not indented', `queries:\n${items(9).replace(/^ {2}/gm, '')}agent: a\n`],
    [
      'comments between items and after them',
      `queries:\n${items(5)}  # more\n\n${items(4)}# end\nagent: a\n`,
    ],
    [
      'block texts that look like items',
      `queries:\n${items(5)}  - text: |\n      - id: x\n        a: 1\n${items(5)}`,
    ],
    [
      'a repeated line inside a block text',
      `queries:\n${items(5)}  - text: |\n      tools: [search, answer, or not]\n      tools: [search, answer, or not]\n${items(5)}`,
    ],
    [
      'a repeated line inside a quoted text',
      `queries:\n${items(5)}  - text: "a\n      tools: [search, answer, or not]\n      tools: [search, answer, or not]"\n${items(5)}`,
    ],
    ['tags', `queries:\n${items(5)}  - a: !include x.yaml\n    b: !!str 1\n${items(5)}`],
    ['an anchor and its aliases', `queries:\n  - &a {x: 1}\n${items(9)}  - *a\n`],
    ['other line ends', `queries:\n${items(9)}`.replaceAll('\n', '\r\n')],
    ['a key that is there twice', `agent: a\nqueries:\n${items(9)}agent: b\n`],
    ['a second document', `queries:\n${items(9)}---\nqueries: []\n`],
    ['an indented key after the list', `queries:\n${items(9)} agent: a\n`],
    [
      'a list under another key of that name',
      `outer:\n  queries:\n${items(9).replace(/^/gm, '  ')}`,
    ],
    ['the key inside a text', `note: |\n  queries:\n  - a\nqueries:\n${items(9)}`],
    ['a key that is twice in one item', `queries:\n${items(5)}  - a: 1\n    a: 2\n${items(5)}`],
    [
      'a key that is twice in a map on one line',
      `queries:\n${items(5)}  - a: {b: 1, b: 2}\n${items(5)}`,
    ],
    ['an item that is empty', `queries:\n${items(5)}  -\n${items(5)}`],
  ])('is the same tree, or is left to the reader of whole texts: %s', (_, text) => {
    const read = inParts(text);
    if (read === undefined) return;
    const document = parseYaml(text, { file: 'a.yaml', tags: ['!include'] });
    expect(document.diagnostics).toEqual([]);
    expect(shown(read)).toEqual(shown(document.root!));
  });

  it('reads an ordinary spec in parts', () => {
    expect(inParts(`version: 1\nqueries:\n${items(9)}agent: a\n`)).toBeDefined();
  });

  it('is the same tree for any list, however it is written', () => {
    const text = fc.constantFrom(
      '',
      'a',
      '- b',
      'c: d',
      'x\ny\n',
      '# e',
      "'",
      '~',
      '{f: g}',
      '[h, i, j, k, l, m, n, o, p]',
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      map: fc.dictionary(fc.constantFrom('a', 'bc', 'schema', 'tools'), tie('value'), {
        maxKeys: 4,
      }),
    }));
    let parted = 0;
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: -1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        (list, flowLevel, indent, seqNoIndent) => {
          const written = dump(
            { agent: 'a', queries: [...list, ...list, ...list, ...list], z: 1 },
            { flowLevel, indent, seqNoIndent, noRefs: true },
          );
          const read = inParts(written);
          if (read === undefined) return;
          parted++;
          expect(shown(read)).toEqual(shown(whole(written)));
        },
      ),
      { numRuns: 400 },
    );
    expect(parted).toBeGreaterThan(50);
  });

  it('is the same tree for plain lines of any kind', () => {
    const value = fc.oneof(
      fc.constantFrom(
        'word',
        'two words',
        'trailing ',
        'a: b',
        'a #b',
        'a#b',
        'true',
        'null',
        '~',
        '1e3',
        '0x1f',
        '007',
        '- a',
        "it's",
        'x, y',
        '[a, b]',
      ),
      fc.constantFrom(
        '["a b", c]',
        '[null, true]',
        '[a,b]',
        '{a: 1, b: [2]}',
        '{"a": {"b": "c"}}',
        '[a, [b]',
        '{a: 1',
        '[1, 2] # note',
        '"q" # note',
      ),
      fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
      fc
        .string({ maxLength: 6, unit: 'binary' })
        .map((text) => `"${text.replace(/["\\\n\r]/g, '')}"`),
      fc.constant(''),
    );
    const good = fc.constantFrom(
      'word',
      'two words',
      '12',
      '"a: b"',
      '"x\\\\d"',
      '[a, "b c"]',
      '{a: 1, b: [2]}',
      '{"a": {"b": "c"}}',
    );
    const mostly = (usual: string, odd: string[]): fc.Arbitrary<string> =>
      fc.oneof(
        { weight: 60, arbitrary: fc.constant(usual) },
        { weight: 1, arbitrary: fc.constantFrom(...odd) },
      );
    const line = fc.record({
      indent: mostly('    ', ['      ', '  ', '        ']),
      key: mostly('', ['a', 'b', 'true', 'a-b', '$x']),
      value: fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: value }),
      gap: mostly(' ', ['  ', '']),
      before: fc.constantFrom('', '', '', '\n', '    # note\n'),
    });
    const one = fc.array(line, { minLength: 1, maxLength: 5 });
    let parted = 0;
    fc.assert(
      fc.property(fc.array(one, { minLength: 3, maxLength: 6 }), (list) => {
        const text = list
          .map(
            (lines, i) =>
              `  - id: q${i}\n${lines.map((l, k) => `${l.before}${l.indent}${l.key || `k${k}`}:${l.value === '' ? '' : l.gap}${l.value}\n`).join('')}`,
          )
          .join('');
        const written = `agent: a\nqueries:\n${text}${'# '.padEnd(200, '-')}\nz: 1\n`;
        const read = inParts(written);
        if (read === undefined) return;
        parted++;
        const document = parseYaml(written, { file: 'a.yaml', tags: ['!include'] });
        expect(document.diagnostics).toEqual([]);
        expect(shown(read)).toEqual(shown(document.root!));
      }),
      { numRuns: 1500 },
    );
    expect(parted).toBeGreaterThan(100);
  });
});
