import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Validator } from '@cfworker/json-schema';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { specJsonSchema } from './json-schema.ts';
import { parseSpec } from './parse-spec.ts';

/**
 * Every file starts with its expected diagnostics, complete and in order: `# expect: CODE
 * line:column` for an error, `# warns:` for a warning, `suggests key` for the key of a
 * did-you-mean. `# structural` marks files that a JSON Schema can reject too.
 */
const FOLDER = fileURLToPath(new URL('../../testing/bad-specs/', import.meta.url));
const HEADER = /^# (expect|warns): (\S+) (?:(\S+):)?(\d+):(\d+)(?: suggests (\S+))?$/;

interface Expected {
  severity: string;
  code: string;
  file: string;
  line: number;
  column: number;
  suggestion: string | undefined;
}

function readCase(name: string) {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const expected: Expected[] = [];
  for (const line of text.split('\n')) {
    const match = HEADER.exec(line);
    if (match === null) continue;
    const [, kind, code = '', file = name, row, column, suggestion] = match;
    const severity = kind === 'warns' ? 'warning' : 'error';
    expected.push({
      severity,
      code,
      file: join(FOLDER, file),
      line: Number(row),
      column: Number(column),
      suggestion,
    });
  }
  return { name, text, expected, isStructural: /^# structural$/m.test(text) };
}

const cases = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .map(readCase);

const found = (text: string, name: string): Expected[] =>
  parseSpec(text, { file: join(FOLDER, name) }).diagnostics.map(
    ({ severity, code, file, line, column, hint }) => ({
      severity,
      code,
      file,
      line,
      column,
      suggestion: /did you mean "(.+?)"/.exec(hint ?? '')?.[1],
    }),
  );

describe('bad specs', () => {
  test('there are enough of them, and each lists its expected diagnostics', () => {
    expect(cases.length).toBeGreaterThanOrEqual(45);
    expect(cases.filter(({ expected }) => expected.length === 0)).toEqual([]);
  });

  test.each(cases)('$name is reported at its place', ({ name, text, expected }) => {
    expect(found(text, name)).toEqual(expected);
  });

  test.each(cases)(
    '$name gives a suite only when nothing is an error',
    ({ name, text, expected }) => {
      const { suite } = parseSpec(text, { file: join(FOLDER, name) });
      expect(suite === undefined).toBe(expected.some(({ severity }) => severity === 'error'));
    },
  );

  test.each(['', '\n', '\uFEFF', '   \n\n'])(
    'an empty file is reported at its start: %j',
    (text) => {
      expect(parseSpec(text, { file: 'a.yaml' }).diagnostics).toMatchObject([
        { code: 'YAML_EMPTY', file: 'a.yaml', line: 1, column: 1 },
      ]);
    },
  );

  test('a diagnostic shows its line and a way out', () => {
    const { diagnostics } = parseSpec(
      'agent: a\nqueries:\n  - query: q\n    path: {forbiden_tools: [x]}\n',
      {
        file: 's.yaml',
      },
    );
    expect(diagnostics).toMatchObject([
      {
        excerpt: '    path: {forbiden_tools: [x]}',
        hint: expect.stringContaining('forbidden_tools'),
        column: 12,
      },
    ]);
  });

  test('the hint for xfail: false is to remove it, because in quotes it would be a reason', () => {
    const { diagnostics } = parseSpec(
      'agent: a\nqueries: [{query: q, xfail: false, path: {max_loops: 1}}]\n',
    );
    expect(diagnostics).toMatchObject([
      { code: 'SPEC_VALUE', hint: expect.stringMatching(/reason in words\. Remove the key/) },
    ]);
  });

  test('of very many problems the first thousand are shown, and that there are more', () => {
    const keys = Array.from({ length: 3000 }, (_, i) => `zzz${i}: 1`).join('\n');
    const { diagnostics } = parseSpec(`${keys}\nagent: a\nqueries: [{query: q}]\n`);
    expect(diagnostics).toHaveLength(1001);
    expect(diagnostics.at(-1)?.code).toBe('SPEC_TOO_LARGE');
  });
});

describe('the JSON Schema refuses what a schema can see', () => {
  const validator = new Validator(specJsonSchema(), '7', false);
  test.each(cases.filter(({ isStructural }) => isStructural))('$name', ({ text }) => {
    expect(validator.validate(load(text)).valid).toBe(false);
  });
});
