import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertFiles } from '@agentci/testing/convert';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { readSuites } from './read-suites.ts';

const config = (rest: object) => ({
  prompts: ['{{q}}'],
  providers: ['echo'],
  tests: [{ vars: { q: 'x' }, assert: [{ type: 'contains', value: 'x' }] }],
  ...rest,
});

/** A folder with a suite, next to a secret. */
function setUp(suite: object | string, name = 'promptfooconfig.json') {
  const dir = tempDir({
    'secret.txt': 'hunter2',
    'secret.csv': 'q,__expected\nhunter2,hunter2\n',
    [`suite/${name}`]: suite,
  });
  return {
    dir,
    read: (path = `suite/${name}`) => readSuites([path], { cwd: dir, outDir: dir, map: {} }),
  };
}

describe('nothing outside the folder is read', () => {
  const inside = (value: string) =>
    config({ tests: [{ vars: { q: 'x' }, assert: [{ type: 'contains', value }] }] });
  test.each([
    { where: 'tests', suite: config({ tests: 'file://../secret.csv' }) },
    { where: 'a prompt', suite: config({ prompts: ['file://../secret.txt'] }) },
    { where: 'a prompt with a wildcard', suite: config({ prompts: ['file://../*.txt'] }) },
    { where: 'a variable', suite: config({ tests: [{ vars: { q: 'file://../secret.txt' } }] }) },
    { where: 'an assertion', suite: inside('file://../secret.txt') },
    { where: 'an absolute path', suite: inside('file:///etc/hosts.txt') },
    { where: 'a path that does not exist outside', suite: inside('file://../none.txt') },
    { where: 'the defaults', suite: config({ defaultTest: 'file://../secret.json' }) },
  ])('$where', ({ suite }) => {
    expect(() => setUp(suite).read()).toThrow(expect.objectContaining({ code: 'CONVERT_OUTSIDE' }));
  });

  test('not through a link', () => {
    const { dir, read } = setUp(config({ tests: 'file://link.csv' }));
    symlinkSync(join(dir, 'secret.csv'), join(dir, 'suite/link.csv'));
    expect(() => read()).toThrow(expect.objectContaining({ code: 'CONVERT_OUTSIDE' }));
  });

  test('a folder is read without its links', () => {
    const { dir, read } = setUp(config({}));
    mkdirSync(join(dir, 'other'));
    writeFileSync(join(dir, 'other/goldens.json'), '[{"input":"secret","expected_output":"x"}]');
    symlinkSync(join(dir, 'other'), join(dir, 'suite/more'));
    expect(read('suite').suite.cases.map(({ query }) => query)).toEqual(['x']);
  });

  test('a folder that holds both is read', () => {
    const { read } = setUp(config({ tests: 'file://../secret.csv' }));
    expect(read('.').suite.cases.map(({ query }) => query)).toContain('hunter2');
  });
});

describe('unreadable input is rejected with a reason', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
    .split('')
    .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
    .join('\n')}\nprompts: *i\ntests: []\n`;
  test.each([
    {
      what: 'a tag of YAML',
      name: 'promptfooconfig.yaml',
      text: 'prompts: !!js/function "function(){}"\ntests: []\n',
    },
    { what: 'aliases that multiply', name: 'promptfooconfig.yaml', text: bomb },
    {
      what: 'a key twice',
      name: 'promptfooconfig.yaml',
      text: 'prompts: [a]\nprompts: [b]\ntests: []\n',
    },
    {
      what: 'a key of JSON twice',
      name: 'promptfooconfig.json',
      text: '{"prompts":["a"],"prompts":["b"],"tests":[]}',
    },
    { what: 'JSON that breaks off', name: 'promptfooconfig.json', text: '{"prompts":["a"' },
    {
      what: 'deep nesting',
      name: 'promptfooconfig.json',
      text: `{"prompts":${'['.repeat(5000)}${']'.repeat(5000)},"tests":[]}`,
    },
    {
      what: 'bytes that are not UTF-8',
      name: 'promptfooconfig.yaml',
      text: Buffer.from([0x70, 0xff, 0xfe, 0x00]),
    },
    { what: 'an open quote in CSV', name: 'tests.csv', text: 'q,__expected\n"open,x\n' },
  ])('$what', ({ name, text }) => {
    const dir = tempDir();
    writeFileSync(join(dir, name), text);
    expect(() => readSuites([name], { cwd: dir, outDir: dir, map: {} })).toThrow(
      expect.objectContaining({ code: 'CONVERT_UNREADABLE' }),
    );
  });

  test('a file of 100 MB', () => {
    const dir = tempDir({ 'big.jsonl': '' });
    truncateSync(join(dir, 'big.jsonl'), 100_000_000);
    expect(() => readSuites(['big.jsonl'], { cwd: dir, outDir: dir, map: {} })).toThrow(
      'big.jsonl has 100 MB; at most 50 MB are read',
    );
  });

  test('variables that make millions of combinations are one skipped case', async () => {
    const many = Array.from({ length: 200 }, (_, i) => `v${i}`);
    const { report } = await convertFiles({
      'promptfooconfig.json': config({
        tests: [
          { vars: { q: many, b: many, c: many }, assert: [{ type: 'contains', value: 'x' }] },
        ],
      }),
    });
    expect(report.skipped).toMatchObject([
      { why: 'its variables make more than 10000 combinations' },
    ]);
  });
});

describe('nothing of a source is run or resolved', () => {
  test('code, templates of the environment and prototypes stay texts', async () => {
    process.env.CONVERT_TEST_SECRET = 'hunter2-hunter2';
    const { files } = await convertFiles({
      'promptfooconfig.json': config({
        description: '{{env.CONVERT_TEST_SECRET}}',
        tests: [
          {
            description: '$(touch /tmp/x) {{ env.CONVERT_TEST_SECRET }}',
            vars: { q: '{{ env.CONVERT_TEST_SECRET }}', __proto__: { polluted: 'yes' } },
            assert: [
              { type: 'javascript', value: 'process.exit(9)' },
              { type: 'contains', value: '{{env.CONVERT_TEST_SECRET}}' },
            ],
          },
        ],
      }),
    });
    delete process.env.CONVERT_TEST_SECRET;
    expect([...files.values()].join('')).not.toContain('hunter2');
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });

  test('text of the source cannot write lines of the spec or of the report', async () => {
    const nasty = 'x\n  - id: injected\n    query: y\r\n# \u2028 | a | b |\n\u0000';
    const { suite, files } = await convertFiles({
      'promptfooconfig.json': config({
        tests: [
          {
            description: nasty,
            vars: { q: nasty },
            assert: [
              { type: nasty, value: 1 },
              { type: 'contains', value: nasty },
            ],
          },
        ],
      }),
    });
    expect(suite.queries).toHaveLength(1);
    expect(suite.queries[0]!.query).toBe(nasty);
    expect(
      files
        .get('convert-report.md')!
        .split('\n')
        .filter((line) => line.startsWith('| promptfooconfig')),
    ).toHaveLength(3);
  });
});
