import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../kit/yaml.ts';
import { decidingText, toPlain, type YamlMap, type YamlNode } from '../kit/yaml-node.ts';
import { parseSpec } from './parse-spec.ts';
import { WrittenAlike } from './written-alike.ts';

const rootOf = (text: string): YamlNode => parseYaml(text, { file: 'a.yaml' }).root!;
const entry = (node: YamlNode, key: string): YamlNode => (node as YamlMap).entries.get(key)!.value;

function* collections(node: YamlNode): Generator<YamlNode> {
  if (node.kind === 'scalar') return;
  yield node;
  if (node.kind === 'seq') for (const item of node.items) yield* collections(item);
  else for (const { value } of node.entries.values()) yield* collections(value);
}

describe('values written alike', () => {
  it.each<readonly [name: string, text: string]>([
    ['a list with an empty item at its end', 'a:\n  - x\n  -\nb:\n  - x\n'],
    ['a map with an empty value at its end', 'a:\n  x: 1\n  y:\nb:\n  x: 1\n  y: 2\n'],
    ['an alias whose anchor is set anew', 'q: &v 1\na: [*v]\nr: &v 2\nb: [*v]\n'],
    ['an empty list inside another', 'a: [x, []]\nb: [x, [y]]\n'],
    ['the same lines in another column', 'a:\n    x:\n      y: 1\nb:\n      x: \n      y: 1\n'],
    ['a block text that keeps its last lines', 'a:\n  x: |+\n    t\n\nb:\n  x: |+\n    t\n'],
    ['a tag that makes text of a number', 'a: [!!str 1]\nb: [1]\n'],
  ])('tells apart %s', (_, text) => {
    const [a, b] = [entry(rootOf(text), 'a'), entry(rootOf(text), 'b')];
    expect(toPlain(a)).not.toEqual(toPlain(b));
    expect(decidingText(a) !== undefined && decidingText(a) === decidingText(b)).toBe(false);
  });

  it('gives one text to equal lists and maps on one line', () => {
    const root = rootOf('a: {t: [1, "x"], u: {v: w}}\nb: {t: [1, "x"], u: {v: w}}\n');
    expect(decidingText(entry(root, 'a'))).toBe(decidingText(entry(root, 'b')));
    expect(decidingText(entry(root, 'a'))).toBeDefined();
  });

  it('never gives one text to different values, however they are written', () => {
    const scalar = fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer({ max: 3, min: 0 }),
      fc.constantFrom('', 'a', 'b\n', ' c'),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, scalar, tie('list'), tie('map')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
    }));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: -1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (list, flowLevel, indent) => {
          const root = rootOf(dump({ list }, { flowLevel, indent, noRefs: true }));
          const seen = new Map<string, unknown>();
          for (const node of collections(root)) {
            const text = decidingText(node);
            if (text === undefined) continue;
            if (seen.has(text)) expect(toPlain(node)).toEqual(seen.get(text));
            seen.set(text, toPlain(node));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('makes something of equal values once, and of what was not kept again', () => {
    const root = rootOf('a: [1]\nb: [1]\nc: [2]\n');
    const alike = new WrittenAlike<string>();
    const made: string[] = [];
    const get = (key: string, isKept: boolean): string =>
      alike.get(
        entry(root, key),
        () => `${made.push(key)}`,
        () => isKept,
      );
    expect([get('a', false), get('b', true), get('a', true), get('c', true)]).toEqual([
      '1',
      '2',
      '2',
      '3',
    ]);
  });
});

describe('checks repeated in every query', () => {
  const query = (id: string, block: string): string =>
    `  - id: ${id}\n    query: q\n    correctness: ${block}\n`;
  const spec = (...blocks: string[]): string =>
    `agent: a\nqueries:\n${blocks.map((block, i) => query(`q${i}`, block)).join('')}`;

  it('are one value', () => {
    const block = '{json_schema: {type: object, required: [a]}}';
    const [first, second] = parseSpec(spec(block, block)).suite!.queries;
    expect(first!.correctness!.json_schema).toBe(second!.correctness!.json_schema);
  });

  it('keep places of their own', () => {
    const block = '{json_schema: {type: object, required: [a]}}';
    const [first, second] = parseSpec(spec(block, block)).suite!.queries;
    expect(first!.locations?.['correctness.json_schema']?.line).toBe(5);
    expect(second!.locations?.['correctness.json_schema']?.line).toBe(8);
  });

  it('are reported in every query when they are wrong', () => {
    const bad = '{json_schema: {requried: [a]}}';
    const { diagnostics } = parseSpec(spec(bad, bad, '{regex_match: "("}', '{regex_match: "("}'));
    const places = new Set(diagnostics.map(({ line, code }) => `${line} ${code}`));
    expect(places).toContain('5 SPEC_BAD_SCHEMA');
    expect(places).toContain('8 SPEC_BAD_SCHEMA');
    expect(places).toContain('11 SPEC_BAD_REGEX');
    expect(places).toContain('14 SPEC_BAD_REGEX');
  });
});
