import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { parseSpec } from './parse-spec.ts';
import type { Query } from './suite.ts';

const HEAD = 'agent: a\nqueries:\n';
const QUERY =
  '  - {id: q, query: "about {{x}}", rows: ROWS, correctness: {expected_in_answer: ["{{x}}"]}}\n';

function load(files: Record<string, string>, spec?: string) {
  const [name] = Object.keys(files);
  const dir = tempDir({ ...files, 'spec.yaml': spec ?? HEAD + QUERY.replace('ROWS', name!) });
  const file = join(dir, 'spec.yaml');
  const { suite, diagnostics } = parseSpec(spec ?? HEAD + QUERY.replace('ROWS', name!), { file });
  return {
    queries: suite?.queries ?? [],
    hash: suite?.hash,
    found: diagnostics.map(
      (each) => `${each.file.slice(dir.length + 1)}:${each.line}:${each.column} ${each.code}`,
    ),
    messages: diagnostics.map(({ message }) => message.replaceAll(`${dir}/`, '')),
  };
}
const texts = (queries: readonly Query[]): string[] =>
  queries.map(({ id, query }) => `${id}: ${query}`);

describe('rows from a file or a list', () => {
  test.each([
    { name: 'a.csv', text: 'x\nParis\nRome\n' },
    { name: 'a.csv', text: '\uFEFFx\r\nParis\r\n\r\nRome' },
    { name: 'a.jsonl', text: '{"x":"Paris"}\n\n{"x":"Rome"}' },
    { name: 'a.ndjson', text: '{"x":"Paris"}\r\n{"x":"Rome"}\r\n' },
    { name: 'a.json', text: '[{"x": "Paris"}, {"x": "Rome"}]' },
    { name: 'a.yaml', text: '- {x: Paris}\n- x: Rome\n' },
  ])('$name: $text', ({ name, text }) => {
    const { queries, found } = load({ [name]: text });
    expect(found).toEqual([]);
    expect(texts(queries)).toEqual(['q-1: about Paris', 'q-2: about Rome']);
  });

  test('in the spec itself', () => {
    const { queries } = load({}, HEAD + QUERY.replace('ROWS', '[{x: Paris}, {x: Rome, id: r}]'));
    expect(texts(queries)).toEqual(['q-1: about Paris', 'r: about Rome']);
  });
});

test('a row whose reason to skip is empty is run', () => {
  const spec = `${HEAD}  - {id: q, query: "about {{x}}", rows: a.csv, skip: "{{why}}", correctness: {expected_in_answer: ["{{x}}"]}}\n`;
  const { queries, found } = load({ 'a.csv': 'x,why\nParis,\nRome,later\nOslo,  \n' }, spec);
  expect(found).toEqual([]);
  expect(queries.map(({ skip }) => skip)).toEqual([undefined, 'later', undefined]);
});

test('ids of rows are valid file names, for any text', () => {
  const ids = ['..', '.', '--', 'a/b', '../../x', '.hidden', 'C:\\\\y'];
  const { queries, found } = load({
    'a.jsonl': ids.map((id) => `{"id": "${id}", "x": "1"}`).join('\n'),
  });
  expect(found).toEqual([]);
  for (const { id } of queries) expect(id).toMatch(/^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*$/);
  expect(new Set(queries.map(({ id }) => id)).size).toBe(ids.length);
});

describe('columns that nothing uses', () => {
  const two = (first: string, second: string): string =>
    `${HEAD}  - {id: a, query: "${first}", rows: a.csv, path: {max_tool_calls: 1}}\n  - {id: b, query: "${second}", rows: a.csv, path: {max_tool_calls: 1}}\n`;
  const files = { 'a.csv': 'x,y\n1,2\n' };
  test('are reported once, although two queries read the file', () => {
    expect(load(files, two('{{x}}', 'b{{x}}')).found).toEqual(['a.csv:1:3 ROWS_UNUSED']);
  });
  test('are not reported if one of the queries uses them', () => {
    expect(load(files, two('{{x}}', '{{y}}')).found).toEqual([]);
  });
});

test.each([
  { what: 'of the row', text: '\\\\{{x}} {{x}}', found: ['spec.yaml:3:27 SPEC_VARIABLE'] },
  { what: 'that is not there', text: '\\\\{{z}} {{x}}', found: [] },
  { what: 'after two backslashes', text: '\\\\\\\\{{x}}', found: [] },
])('a backslash before a variable $what', ({ text, found }) => {
  const spec = `${HEAD}  - {id: q, query: "aaa ${text}", rows: [{x: Paris}], path: {max_tool_calls: 1}}\n`;
  expect(load({}, spec).found).toEqual(found);
});

describe('variables in the file of a prompt', () => {
  const spec = (prompt: string, more = ''): string =>
    `agent: a\nrunner: {model: openai:gpt-5-mini, prompt: ${prompt}}\n${more}queries:\n  - {id: q, query: hi, rows: [{city: Paris, tone: dry}], correctness: {expected_in_answer: [x]}}\n`;
  test.each([
    { what: 'that are all there', text: 'In {{city}}, {{tone}}: {{query}}', found: [] },
    {
      what: 'of which one is misspelt',
      text: 'a\n{{ctiy}} {{tone}} {{city}}',
      found: ['p.md:2:1 SPEC_VARIABLE_MISSING'],
    },
    {
      what: 'that are not closed',
      text: '{{city}} {{tone}} {{x',
      found: ['p.md:1:19 SPEC_VARIABLE'],
    },
    { what: 'as text', text: '\\{{x}} {{city}} {{tone}}', found: [] },
  ])('$what', ({ text, found }) => {
    expect(load({ 'p.md': text }, spec('./p.md')).found).toEqual(found);
  });

  test('whose name is in the matrix', () => {
    const files = { 'p.md': '{{city}} {{tone}}', 'r.md': '{{city}} {{tome}}' };
    const { found, messages } = load(
      files,
      spec('"{{prompt}}"', 'matrix: {prompt: [p.md, r.md]}\n'),
    );
    expect(found).toEqual(['r.md:1:10 SPEC_VARIABLE_MISSING']);
    expect(messages[0]).toContain('which the prompt needs');
  });
});

describe('a problem of a row is reported at its place', () => {
  test.each([
    { files: { 'a.csv': 'x,y\n1\n' }, found: ['a.csv:2:1 SPEC_ROWS'] },
    { files: { 'a.csv': 'x\n1\n2,3\n' }, found: ['a.csv:3:3 SPEC_ROWS'] },
    { files: { 'a.csv': 'x\n"a\nb\n' }, found: ['a.csv:2:1 SPEC_ROWS'] },
    { files: { 'a.csv': 'x\na "b" c\n' }, found: ['a.csv:2:3 SPEC_ROWS'] },
    { files: { 'a.csv': 'x,x\n1,2\n' }, found: ['a.csv:1:3 SPEC_ROWS'] },
    { files: { 'a.csv': 'x,\n1,2\n' }, found: ['a.csv:1:3 SPEC_ROWS'] },
    { files: { 'a.csv': 'x\n' }, found: ['spec.yaml:3:41 SPEC_EMPTY'] },
    { files: { 'a.csv': '' }, found: ['spec.yaml:3:41 SPEC_EMPTY'] },
    { files: { 'a.jsonl': '{"x":"1"}\n{"x":}\n' }, found: ['a.jsonl:2:6 SPEC_ROWS'] },
    { files: { 'a.jsonl': '{"x":"1"}\n{"x":"2", "x":"3"}\n' }, found: ['a.jsonl:2:11 SPEC_ROWS'] },
    { files: { 'a.jsonl': '{"x":{"a":1,"a":2}}\n' }, found: ['a.jsonl:1:13 SPEC_ROWS'] },
    {
      files: { 'a.json': '[{"x":"1"},\n {"x":"\\": ", "\\u0078":"3"}]' },
      found: ['a.json:2:15 SPEC_ROWS'],
    },
    { files: { 'a.jsonl': '[1]\n' }, found: ['a.jsonl:1:1 SPEC_ROWS'] },
    { files: { 'a.json': '{"x": 1}' }, found: ['a.json:1:1 SPEC_ROWS'] },
    { files: { 'a.json': '[{"x": "1"},\n  7]' }, found: ['a.json:2:3 SPEC_ROWS'] },
    { files: { 'a.json': '[{"x": "1"}' }, found: ['a.json:1:11 SPEC_ROWS'] },
    { files: { 'a.yaml': 'x: 1\n' }, found: ['a.yaml:1:1 SPEC_ROWS'] },
    { files: { 'a.jsonl': '{"{x}":1,"x":2}\n' }, found: ['a.jsonl:1:8 SPEC_ROWS'] },
    {
      files: { 'a.csv': 'x\n\uFFFF\n'.replace('\uFFFF', 'a'.repeat(1_000_001)) },
      found: ['a.csv:2:1 SPEC_TOO_LARGE'],
    },
  ])('$found', ({ files, found }) => {
    expect(
      load(files as unknown as Record<string, string>).found.filter(
        (each) => !each.includes('SPEC_EMPTY') || found[0]!.includes('SPEC_EMPTY'),
      ),
    ).toEqual(found);
  });

  test('one bad row of five thousand', () => {
    const rows = Array.from({ length: 5000 }, (_, i) => `c${i},${i === 3141 ? 'many' : i}`);
    const spec = `${HEAD}  - {query: "q {{id}}", rows: a.csv, path: {max_tool_calls: "{{n}}"}}\n`;
    const { found, messages } = load({ 'a.csv': `id,n\n${rows.join('\n')}\n` }, spec);
    expect(found).toEqual(['a.csv:3143:7 SPEC_VALUE']);
    expect(messages[0]).toContain('spec.yaml:3:61 uses it');
  });

  test('many bad rows are listed in part, with the number of the rest', () => {
    const spec = `${HEAD}  - {query: "q {{n}}", rows: a.csv, path: {max_tool_calls: "{{n}}"}}\n`;
    const { found, messages } = load({ 'a.csv': `n\n${'x\n'.repeat(500)}` }, spec);
    expect(found.filter((each) => each.startsWith('a.csv'))).toHaveLength(10);
    expect(messages).toContain('490 more rows have this problem');
  });

  test('a row that lacks a variable is named at the braces', () => {
    const { found, messages } = load({ 'a.jsonl': '{"x":"a"}\n{"y":"b"}\n' });
    expect(found).toContain('spec.yaml:3:27 SPEC_VARIABLE_MISSING');
    expect(messages.join('\n')).toContain('(row at a.jsonl:2:1)');
  });

  test('a file that a link leads out to is refused', () => {
    const outside = tempDir({ 'a.csv': 'x\n1\n' });
    const dir = tempDir({});
    mkdirSync(join(dir, 'data'));
    symlinkSync(join(outside, 'a.csv'), join(dir, 'data/a.csv'));
    const text = HEAD + QUERY.replace('ROWS', 'data/a.csv');
    writeFileSync(join(dir, 'spec.yaml'), text);
    const { diagnostics } = parseSpec(text, { file: join(dir, 'spec.yaml') });
    expect(diagnostics.map(({ code }) => code)).toContain('SPEC_FILE_OUTSIDE');
  });
});

describe('values are data', () => {
  const one = (value: string, body: string): Query => {
    const { queries, found } = load(
      { 'a.csv': `x,n\n${value}\n` },
      `${HEAD}  - {id: q, query: "a", rows: a.csv, vars: {y: Y}, ${body}, metadata: {x: "{{x}}", n: "{{n}}"}, path: {max_tool_calls: 1}}\n`,
    );
    expect(found).toEqual([]);
    return queries[0]!;
  };

  test.each([
    {
      what: 'braces in a value stay',
      value: '{{n}},1',
      body: 'description: "{{x}} {{y}}"',
      key: 'description',
      is: '{{n}} Y',
    },
    {
      what: 'YAML in a value is text',
      value: '"[a, b]: *c",1',
      body: 'description: "{{x}}"',
      key: 'description',
      is: '[a, b]: *c',
    },
    {
      what: 'a number in a text key is text',
      value: '007,1',
      body: 'description: "{{x}}"',
      key: 'description',
      is: '007',
    },
    {
      what: 'a number if the key expects one',
      value: 'a,3',
      body: 'runs: "{{n}}"',
      key: 'runs',
      is: 3,
    },
    {
      what: 'a list if the key expects one',
      value: '"[""s"",""t""]",1',
      body: 'tags: "{{x}}"',
      key: 'tags',
      is: ['s', 't'],
    },
    {
      what: 'as JSON',
      value: '"say ""hi""",1',
      body: 'description: "{{x | json}}"',
      key: 'description',
      is: '"say \\"hi\\""',
    },
    {
      what: 'an empty cell',
      value: ',1',
      body: 'description: "<{{x}}>"',
      key: 'description',
      is: '<>',
    },
  ])('$what', ({ value, body, key, is }) => {
    expect(one(value, body)[key as keyof Query]).toEqual(is);
  });

  test.each([
    { value: 'a.b*,1', is: '^a\\.b\\*$' },
    { value: '"two\nlines",1', is: '^two\\nlines$' },
    { value: '"[x]{2}|-",1', is: '^\\[x\\]\\{2\\}\\|\\-$' },
  ])('in a pattern $value matches itself', ({ value, is }) => {
    expect(one(value, 'correctness: {regex_match: "^{{x}}$"}').correctness?.regex_match).toBe(is);
  });

  test('text of a cell is read as its key asks inside of combinators too', () => {
    const body =
      'path: {any: [{max_tool_calls: "{{n}}"}, {not: {max_loops: "{{n}}"}}]}, correctness: {expr: "answer == vars.x"}';
    const spec = `${HEAD}  - {id: q, query: a, rows: a.csv, ${body}}\n`;
    const { queries, found } = load({ 'a.csv': 'x,n\ny,2\n' }, spec);
    expect(found).toEqual([]);
    expect(queries[0]?.path?.any).toEqual([{ max_tool_calls: 2 }, { not: { max_loops: 2 } }]);
    const code = `${HEAD}  - {id: q, query: a, rows: a.csv, correctness: {expr: "answer == '{{x}}'"}}\n`;
    expect(load({ 'a.csv': 'x\ny\n' }, code).found[0]).toBe('spec.yaml:3:68 SPEC_VARIABLE');
  });

  test('types of JSON rows are kept', () => {
    const spec = `${HEAD}  - {id: q, query: a, rows: a.jsonl, metadata: {m: "{{m}}"}, correctness: {expected_in_answer: "{{l}}"}, path: {max_tool_calls: "{{n}}"}}\n`;
    const { queries, found } = load({ 'a.jsonl': '{"m":{"a":[1,null]},"l":["x"],"n":2}\n' }, spec);
    expect(found).toEqual([]);
    expect(queries[0]).toMatchObject({
      metadata: { m: { a: [1, null] } },
      correctness: { expected_in_answer: ['x'] },
      path: { max_tool_calls: 2 },
    });
  });

  test('names that objects have anyway are ordinary', () => {
    const spec = `${HEAD}  - {id: q, query: "{{__proto__}} {{constructor}}", rows: a.csv, path: {max_tool_calls: 1}}\n`;
    const { queries, found } = load({ 'a.csv': '__proto__,constructor\np,c\n' }, spec);
    expect(found).toEqual([]);
    expect(queries[0]?.query).toBe('p c');
    const missing = `${HEAD}  - {id: q, query: "{{toString}}", vars: {a: 1}, path: {max_tool_calls: 1}}\n`;
    expect(load({}, missing).found).toEqual(['spec.yaml:3:21 SPEC_VARIABLE_MISSING']);
  });
});

describe('precedence and scope', () => {
  test('matrix over row over query over defaults over root', () => {
    const spec = `agent: a
vars: {a: root, b: root, c: root, d: root, e: root}
matrix: {e: [cell]}
defaults: {vars: {b: defaults, c: defaults, d: defaults, e: defaults}}
queries:
  - {id: q, query: "{{a}} {{b}} {{c}} {{d}} {{e}}", vars: {c: query, d: query}, rows: [{d: row, e: row}], path: {max_tool_calls: 1}}
`;
    expect(load({}, spec).queries[0]?.query).toBe('root defaults query row cell');
  });

  test('without variables braces are plain text', () => {
    const spec = `${HEAD}  - {id: q, query: "what is {{x}}, \\\\{{y}}", path: {max_tool_calls: 1}}\n`;
    const { queries, found } = load({}, spec);
    expect(found).toEqual([]);
    expect(queries[0]).toMatchObject({ query: 'what is {{x}}, \\{{y}}' });
    expect(queries[0]?.vars).toBeUndefined();
  });

  test('what rows share is shared', () => {
    const spec = `agent: a
defaults: {cost: {max_cost_usd: 1}}
queries:
  - {id: q, query: "{{x}}", rows: a.csv, tags: [t], path: {forbidden_tools: [z]}, correctness: {expected_in_answer: ["{{x}}"], not_in_answer: [no]}}
`;
    const { queries } = load({ 'a.csv': 'x\n1\n2\n' }, spec);
    const [a, b] = queries;
    expect(a!.path).toBe(b!.path);
    expect(a!.cost).toBe(b!.cost);
    expect(a!.tags).toBe(b!.tags);
    expect(a!.locations).toBe(b!.locations);
    expect(a!.correctness!.not_in_answer).toBe(b!.correctness!.not_in_answer);
    expect(a!.correctness!.expected_in_answer).toEqual(['1']);
    expect(b!.correctness!.expected_in_answer).toEqual(['2']);
  });

  test('another row is another spec', () => {
    const before = load({ 'a.csv': 'x\n1\n' });
    expect(before.hash).toBe(load({ 'a.csv': 'x\n1\n' }).hash);
    expect(before.hash).not.toBe(load({ 'a.csv': 'x\n2\n' }).hash);
  });

  test('ids: a column, the query and the number, or the words of the text', () => {
    const rows = 'id,x\nCase 1,a\nREF-17,b\n"Grüße, Welt!",c\n日本,d\n';
    expect(load({ 'a.csv': rows }).queries.map(({ id }) => id)).toEqual([
      'case-1',
      'REF-17',
      'gru-e-welt',
      expect.stringMatching(/^[0-9a-f]{8}$/),
    ]);
    const unnamed = `${HEAD}  - {query: "about {{x}}", rows: [{x: 1}, {x: 2}], path: {max_tool_calls: 1}}\n`;
    expect(load({}, unnamed).queries.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^about-x-[0-9a-f]{8}-1$/),
      expect.stringMatching(/^about-x-[0-9a-f]{8}-2$/),
    ]);
    const templated = `${HEAD}  - {id: "city {{x}}", query: q, rows: [{x: Paris}, {x: Rome}], path: {max_tool_calls: 1}}\n`;
    expect(load({}, templated).queries.map(({ id }) => id)).toEqual(['city-paris', 'city-rome']);
    const twice = `${HEAD}  - {id: q, query: q, rows: [{x: 1}], metadata: {x: "{{x}}"}, path: {max_tool_calls: 1}}\n  - {id: q-1, query: q, path: {max_tool_calls: 1}}\n`;
    expect(load({}, twice).found).toEqual(['spec.yaml:4:10 SPEC_DUPLICATE']);
  });
});
