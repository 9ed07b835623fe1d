import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vectors from '@agentci/testing/vectors/spec.json' with { type: 'json' };
import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { afterEach, describe, expect, test } from 'vitest';
import { specJsonSchema } from './json-schema.ts';
import { LAYER_KEYS } from './layer-keys.ts';
import { loadSpec, SpecError } from './load.ts';
import { parseSpec } from './parse-spec.ts';
import { QUERY_KEY_NAMES } from './query-reader.ts';
import { selectQueries } from './select.ts';
import type { Suite } from './suite.ts';

const suiteOf = (text: string, file = 's.yaml'): Suite => {
  const { suite, diagnostics } = parseSpec(text, { file });
  expect(diagnostics.filter((d) => d.severity === 'error')).toEqual([]);
  return suite!;
};

const SAMPLE = fileURLToPath(new URL('../../../docs/sample_spec.yaml', import.meta.url));

describe('the sample spec', () => {
  test('loads without a warning and uses every key', async () => {
    const { suite, diagnostics } = await loadSpec(SAMPLE);
    expect(diagnostics).toEqual([]);
    for (const [layer, keys] of Object.entries(LAYER_KEYS)) {
      const used = new Set(
        suite.queries.flatMap((query) =>
          Object.keys(query[layer as keyof typeof LAYER_KEYS] ?? {}),
        ),
      );
      expect([...keys.keys()].filter((key) => !used.has(key))).toEqual([]);
    }
    expect(suite.runner).toMatchObject({
      kind: 'replay',
      timeoutMs: 60000,
      retries: 2,
      env: { LOG_LEVEL: 'error' },
    });
  });

  test('is valid for a stock JSON Schema validator', () => {
    const { valid, errors } = new Validator(specJsonSchema(), '7', false).validate(
      load(readFileSync(SAMPLE, 'utf8')),
    );
    expect({ valid, errors }).toEqual({ valid: true, errors: [] });
  });
});

test('the schema file is the one the definitions give', () => {
  const file = new URL('../../../schema/agentci-spec.schema.json', import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(specJsonSchema());
});

describe('a small spec', () => {
  test('gets the standard values', () => {
    const suite = suiteOf(
      'agent: a\nqueries:\n  - query: Hello, Wörld?\n    path: {max_tool_calls: 1}\n',
      'dir/s.yaml',
    );
    expect(suite).toMatchObject({
      version: 1,
      agent: 'a',
      file: 'dir/s.yaml',
      dir: 'dir',
      baselineDir: './baselines',
      use: [],
    });
    expect(suite.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(suite.runner).toBeUndefined();
    expect(suite.queries).toEqual([
      {
        id: expect.stringMatching(/^hello-world-[0-9a-f]{8}$/),
        query: 'Hello, Wörld?',
        tags: [],
        runs: 1,
        minPassRate: 1,
        path: { max_tool_calls: 1 },
        location: { file: 'dir/s.yaml', line: 3, column: 5 },
        locations: { 'path.max_tool_calls': { file: 'dir/s.yaml', line: 4, column: 12 } },
      },
    ]);
  });

  test('keeps what a query says of itself', () => {
    const text = [
      'agent: a',
      'judge_config: {model: m}',
      'queries:',
      '  - {query: q, id: x.1, description: d, tags: [t], runs: 3, min_pass_rate: 0.5, context: c, expected_output: o,',
      '     metadata: {__proto__: 1, k: [1]}, xfail: why, metrics: [faithfulness], policy: p.yaml}',
    ];
    const suite = suiteOf(text.join('\n'));
    expect(suite.judgeConfig).toEqual({ model: 'm', temperature: 0 });
    expect(suite.queries[0]).toMatchObject({
      id: 'x.1',
      description: 'd',
      tags: ['t'],
      runs: 3,
      minPassRate: 0.5,
      context: ['c'],
      expectedOutput: 'o',
      xfail: 'why',
      metrics: ['faithfulness'],
      policy: 'p.yaml',
    });
    expect(Object.keys(suite.queries[0]?.metadata ?? {})).toEqual(['__proto__', 'k']);
    expect(suite.queries[0]?.locations).toMatchObject({
      'metric.faithfulness': { line: 5 },
      policy: { line: 5 },
    });
  });

  test.each([
    ['{module: ./a.ts}', { kind: 'module', module: './a.ts', export: 'default' }],
    [
      '{module: ./a.ts, export: run, timeout_ms: 5}',
      { kind: 'module', module: './a.ts', export: 'run', timeoutMs: 5 },
    ],
    [
      '{command: [node, a.js], cwd: sub, env: {A: 1}}',
      { kind: 'command', command: ['node', 'a.js'], cwd: 'sub', env: { A: '1' } },
    ],
    [
      '{http: {url: "http://x", body: {q: "{{query}}"}, answer: /a}, retries: 0}',
      {
        kind: 'http',
        http: {
          url: 'http://x',
          method: 'POST',
          headers: {},
          body: { q: '{{query}}' },
          answer: '/a',
        },
        retries: 0,
      },
    ],
    ['{replay: ./t}', { kind: 'replay', replay: './t' }],
  ])('runner %s', (runner, expected) => {
    expect(suiteOf(`agent: a\nrunner: ${runner}\nqueries: [{query: q}]`).runner).toEqual(expected);
  });

  test.each([
    '[faithfulness]',
    '[{tool_success: 0.9}]',
    '[{pii_leakage: {min: 1, severity: fail, formula: max}}]',
    '{faithfulness: 0.5, cost: {max: 2}, token_usage: }',
  ])('metrics may be spelt %s', (metrics) => {
    expect(
      suiteOf(`agent: a\nqueries: [{query: q, metrics: ${metrics}}]`).queries[0]?.metrics,
    ).toBeDefined();
  });

  test('an empty path block requests the comparison with a baseline', () => {
    expect(parseSpec('agent: a\nqueries: [{query: q, path: {}}]').diagnostics).toEqual([]);
  });
});

describe('defaults', () => {
  const merged = (defaults: string, query: string, root = '') =>
    suiteOf(`agent: a\n${root}\ndefaults: ${defaults}\nqueries: [${query}]`).queries[0]!;

  test.each([
    [
      'lists are replaced',
      '{correctness: {not_in_answer: [a, b]}}',
      '{query: q, correctness: {not_in_answer: [c]}}',
      { correctness: { not_in_answer: ['c'] } },
    ],
    [
      'maps merge deep',
      '{correctness: {safety_check: {rule: d, threshold: 0.8}}}',
      '{query: q, correctness: {safety_check: {threshold: 0.6}}}',
      { correctness: { safety_check: { rule: 'd', threshold: 0.6 } } },
    ],
    [
      'no standard value is filled in before',
      '{correctness: {safety_check: {threshold: 0.8}}}',
      '{query: q, correctness: {safety_check: {rule: mine}}}',
      { correctness: { safety_check: { rule: 'mine', threshold: 0.8 } } },
    ],
    [
      'null switches a default off',
      '{path: {max_tool_calls: 1, max_loops: 1}}',
      '{query: q, path: {max_loops: null}}',
      { path: { max_tool_calls: 1 } },
    ],
    [
      'runs and tags are inherited',
      '{runs: 5, tags: [x]}',
      '{query: q, cost: {max_llm_calls: 1}}',
      { runs: 5, tags: ['x'] },
    ],
  ])('%s', (_, defaults, query, expected) => {
    expect(merged(defaults, query)).toMatchObject(expected);
  });

  test('a switched-off default is gone', () => {
    expect(
      merged('{path: {max_tool_calls: 1, max_loops: 1}}', '{query: q, path: {max_loops: null}}')
        .path,
    ).toEqual({
      max_tool_calls: 1,
    });
  });

  test('metrics and policy of the root are inherited, and defaults win over them', () => {
    const query = merged(
      '{metrics: {faithfulness: 0.9}}',
      '{query: q}',
      'metrics: {faithfulness: 0.1, cost: 0.2}\npolicy: p.yaml',
    );
    expect(query).toMatchObject({ metrics: { faithfulness: 0.9, cost: 0.2 }, policy: 'p.yaml' });
  });

  test('a value points to the line it was written on, also when inherited', () => {
    const { queries } = suiteOf(
      'agent: a\ndefaults:\n  cost: {max_llm_calls: 1}\nqueries:\n  - query: q\n    cost: {max_cost_usd: 1}\n',
    );
    expect(queries[0]?.locations).toMatchObject({
      'cost.max_llm_calls': { line: 3 },
      'cost.max_cost_usd': { line: 6 },
    });
  });

  test('the hash follows the merged meaning, not the way it was written', () => {
    const inherited = suiteOf(
      'agent: a\ndefaults: {cost: {max_llm_calls: 1}}\nqueries: [{query: q}]',
    );
    const written = suiteOf(
      '# comment\nqueries:\n  - cost: {max_llm_calls: 1}\n    query: q\nagent: a\n',
    );
    const other = suiteOf('agent: a\nqueries: [{query: q, cost: {max_llm_calls: 2}}]');
    expect(written.hash).toBe(inherited.hash);
    expect(other.hash).not.toBe(inherited.hash);
  });

  test('aliases and merge keys work as in any YAML', () => {
    const { queries } = suiteOf(
      'agent: a\nqueries:\n  - &one {query: q, cost: {max_llm_calls: 1}}\n  - {<<: *one, query: r}\n',
    );
    expect(queries[1]).toMatchObject({ query: 'r', cost: { max_llm_calls: 1 } });
  });
});

describe('ids', () => {
  test('the nth query of one text gets -n, and never an id written by hand', () => {
    const hash = suiteOf('agent: a\nqueries: [{query: hi}]').queries[0]!.id;
    const { queries } = suiteOf(
      `agent: a\nqueries: [{query: hi}, {query: hi}, {query: x, id: ${hash}-3}, {query: hi}, {query: 你好}]`,
    );
    expect(queries.map(({ id }) => id)).toEqual([
      hash,
      `${hash}-2`,
      `${hash}-3`,
      `${hash}-4`,
      expect.stringMatching(/^[0-9a-f]{8}$/),
    ]);
  });
});

describe('includes', () => {
  let folder: string | undefined;
  afterEach(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
    folder = undefined;
  });

  const write = (files: Record<string, string>): string => {
    folder = mkdtempSync(join(tmpdir(), 'agentci-spec-'));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, 'spec', name)), { recursive: true });
      writeFileSync(join(folder, 'spec', name), text);
    }
    return join(folder, 'spec');
  };

  test('content is put in place and keeps its own positions', async () => {
    const dir = write({
      's.yaml': 'agent: a\nqueries: !include parts/queries.yaml\n',
      'parts/queries.yaml':
        '- query: q\n  correctness:\n    safety_check: !include rubrics.yaml#/a~1b\n    exact_match: x\n',
      'parts/rubrics.yaml': '# shared\na/b: {rule: r}\n',
    });
    const { suite } = await loadSpec(join(dir, 's.yaml'));
    expect(suite.queries[0]).toMatchObject({
      correctness: { safety_check: { rule: 'r' }, exact_match: 'x' },
      location: { file: join(dir, 'parts/queries.yaml'), line: 1 },
    });
  });

  test('a reference accepts additional keys', async () => {
    const dir = write({
      's.yaml':
        'agent: a\nqueries:\n  - query: q\n    correctness:\n      safety_check: {$ref: "r.yaml#/x", threshold: 0.6}\n  - query: r\n    correctness: {$ref: "#/queries/0/correctness"}\n',
      'r.yaml': 'x: {rule: r, threshold: 0.8}\n',
    });
    const { suite } = await loadSpec(join(dir, 's.yaml'));
    const expected = { safety_check: { rule: 'r', threshold: 0.6 } };
    expect(suite.queries.map((query) => query.correctness)).toEqual([expected, expected]);
  });

  test('a JSON Schema keeps its references', () => {
    const { queries } = suiteOf(
      'agent: a\nqueries:\n  - query: q\n    correctness:\n      json_schema: {type: object, required: [a], properties: {a: {$ref: "#/$defs/x"}}, $defs: {x: {type: string}}}\n',
    );
    expect(queries[0]?.correctness).toMatchObject({
      json_schema: { properties: { a: { $ref: '#/$defs/x' } } },
    });
  });

  test('a symbolic link does not lead out of the folder', async () => {
    const dir = write({
      's.yaml': 'agent: a\nqueries: [{query: q, correctness: !include link.yaml}]\n',
    });
    writeFileSync(join(dir, '..', 'secret.yaml'), 'exact_match: x\n');
    symlinkSync(join(dir, '..', 'secret.yaml'), join(dir, 'link.yaml'));
    await expect(loadSpec(join(dir, 's.yaml'))).rejects.toMatchObject({
      diagnostics: [{ code: 'SPEC_INCLUDE_OUTSIDE', line: 2, column: 35 }],
    });
  });

  test('files that include each other again and again are stopped', async () => {
    const files: Record<string, string> = { 's.yaml': 'agent: a\nqueries: !include f0.yaml\n' };
    for (let i = 0; i < 24; i++)
      files[`f${i}.yaml`] =
        `[!include f${i + 1}.yaml, !include f${i + 1}.yaml, !include f${i + 1}.yaml]`;
    files['f24.yaml'] = '[x]';
    const dir = write(files);
    await expect(loadSpec(join(dir, 's.yaml'))).rejects.toMatchObject({
      diagnostics: [{ code: 'SPEC_TOO_LARGE' }],
    });
  });
});

describe('files that cannot be read', () => {
  test('a missing file is not a diagnostic of the spec', async () => {
    await expect(loadSpec('no/such/spec.yaml')).rejects.toMatchObject({
      name: 'UserError',
      code: 'SPEC_NOT_FOUND',
    });
  });

  test('neither is a folder', async () => {
    await expect(loadSpec(tmpdir())).rejects.toMatchObject({
      name: 'UserError',
      code: 'SPEC_UNREADABLE',
    });
  });

  test.each([
    ['too many bytes', Buffer.alloc(10_000_001, 0x61), 'YAML_TOO_LARGE', 1, 1],
    ['UTF-16', Buffer.from('\ufeffagent: demo\n', 'utf16le'), 'YAML_ENCODING', 1, 1],
    [
      'a byte that is not UTF-8 behind a byte-order mark and characters that stand for such bytes',
      Buffer.concat([Buffer.from('\ufeff# \ufffd \ufffd\n# \ufffd'), Buffer.from([0xff])]),
      'YAML_ENCODING',
      2,
      4,
    ],
    ['a byte that is not UTF-8', Buffer.from([0x61, 0xff, 0xfe]), 'YAML_ENCODING', 1, 2],
    [
      'a Latin-1 letter',
      Buffer.from('agent: demo\r\n# caf\u00e9\n', 'latin1'),
      'YAML_ENCODING',
      2,
      6,
    ],
    [
      'a bad byte behind a real replacement character',
      Buffer.concat([Buffer.from('# \ufffd\n#'), Buffer.from([0xe9])]),
      'YAML_ENCODING',
      2,
      2,
    ],
  ])('%s is reported at its place', async (_, bytes, code, line, column) => {
    const file = join(mkdtempSync(join(tmpdir(), 'agentci-spec-')), 's.yaml');
    writeFileSync(file, bytes);
    const error = await loadSpec(file).catch((e: unknown) => e);
    rmSync(dirname(file), { recursive: true });
    expect(error).toBeInstanceOf(SpecError);
    expect(error).toMatchObject({ diagnostics: [{ code, line, column }] });
  });
});

interface Vector {
  readonly id: string;
  readonly kind: string;
  readonly input: Record<string, unknown>;
  readonly expected: Record<string, unknown>;
}
const ofKind = (kind: string): readonly Vector[] =>
  (vectors as readonly Vector[]).filter((vector) => vector.kind === kind);

describe('vectors', () => {
  test.each(ofKind('spec.validate'))('$id', ({ input, expected }) => {
    const { suite } = parseSpec(JSON.stringify(input.spec));
    expect(suite !== undefined).toBe(expected.valid);
    if (expected.distinct_ids === true)
      expect(new Set(suite?.queries.map(({ id }) => id)).size).toBe(suite?.queries.length);
  });

  test.each(ofKind('spec.merge_defaults'))('$id', ({ input, expected }) => {
    const suite = suiteOf(
      JSON.stringify({ agent: 'a', defaults: input.defaults, queries: [input.query] }),
    );
    expect(suite.queries[0]).toMatchObject(expected);
  });

  test.each(ofKind('spec.filter_tags'))('$id', ({ input, expected }) => {
    const queries = Object.entries(input.query_tags as Record<string, string[] | null>).map(
      ([query, tags]) => (tags === null ? { query } : { query, tags }),
    );
    const suite = suiteOf(JSON.stringify({ agent: 'a', queries }));
    expect(
      selectQueries(suite, { tags: input.tags as string[] }).map(({ query }) => query),
    ).toEqual(expected.queries);
  });
});

describe('the guide', () => {
  const guide = readFileSync(new URL('../../../docs/guide/spec.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!);
  test.each(blocks)('example %# loads without a warning', (block) => {
    expect(parseSpec(block).diagnostics).toEqual([]);
  });
});

describe('a spec damaged anywhere', () => {
  const sample = readFileSync(SAMPLE, 'utf8');
  const piece = fc.constantFrom(
    '',
    ' ',
    '\n',
    '  ',
    ': ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '*x',
    '&x ',
    '"',
    'null',
    '-1',
    '1e999',
    '!include x',
    '{$ref: "#/"}',
    '__proto__: ',
    '<<: ',
  );

  test('never throws, and gives a suite or an error', () => {
    fc.assert(
      fc.property(fc.nat(sample.length), fc.nat(30), piece, (at, cut, inserted) => {
        const { suite, diagnostics } = parseSpec(
          sample.slice(0, at) + inserted + sample.slice(at + cut),
          {
            file: SAMPLE,
          },
        );
        expect(suite === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
        expect(diagnostics.every(({ line, column }) => line >= 1 && column >= 1)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});

test('every key of a query has a unique name', () => {
  expect(new Set(QUERY_KEY_NAMES).size).toBe(QUERY_KEY_NAMES.length);
});

test.each([
  ['1.50', '"1.50"'],
  ['007', '"007"'],
  ['0x1F', '"0x1F"'],
  ['True', '"True"'],
])(
  'the text %s that YAML reads as something else is to be quoted as it was written',
  (written, quoted) => {
    const text = `agent: demo\nqueries:\n  - query: q\n    correctness: {expected_in_answer: [a, ${written}]}\n`;
    expect(parseSpec(text, { file: 's.yaml' }).diagnostics).toMatchObject([
      { hint: `put it in quotes: ${quoted}` },
    ]);
  },
);
