import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CLI, cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

// Attempts to make a run look better than it was. Each was found in practice.

const spec = (queries: string, head = '') => `version: 1\nagent: demo\n${head}queries:\n${queries}`;
const ok = (id: string) =>
  `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}}\n`;
const lines = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');

describe('a rule that would match nothing', () => {
  test.each([
    { list: '["rm,ls"]', hint: '[rm, ls]' },
    { list: '["{rm,ls}"]', hint: '[rm, ls]' },
    { list: '["!rm"]', hint: 'write rm' },
    { list: '["rm ls"]', hint: '[rm, ls]' },
    { list: '["rm,"]', hint: 'write rm' },
    { list: '["[rm]"]', hint: 'write rm' },
    { list: '\n        ls\n        - rm', hint: 'list' },
    { list: '\n        - ls\n          - rm', hint: '[ls, rm]' },
  ])('forbidden_tools: $list is refused with the right spelling', async ({ list, hint }) => {
    const queries = `  - query: q\n    path:\n      forbidden_tools: ${list}\n`;
    const cwd = tempDir({
      'agentci_spec.yaml': spec(queries),
      't.json': { query: 'q', answer: 'x', tool_calls: [{ name: 'rm' }] },
    });
    const { code, stderr } = await cli(['test', '--traces', 't.json'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(hint) });
  });

  test.each([
    'policy: {blocklist: ["rm,ls"]}',
    'policy: {tools: {deny: ["{rm,ls}"]}}',
    'policy: {tools: {allow: ["ls cat"]}}',
    'policy: {sequences: [{type: blocklist, tools: ["!rm"]}]}',
    'policy: {sequences: [{type: before, first: "a,b", then: rm}]}',
    'path: {rules: [{type: require, tool: "login rm"}]}',
    'path: {expected_tools: ["a,b"]}',
    'path: {expected_tool_sequence: ["a - b"]}',
    'path: {expected_tool_args: [{tool: "{a,b}", args: {x: 1}}]}',
  ])('%s is refused', async (checks) => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(`  - {query: q, ${checks}}\n`),
      't.json': { query: 'q', answer: 'x' },
    });
    const { code, stderr } = await cli(['test', '--traces', 't.json'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/_BAD_PATTERN/) });
  });

  test('a tool whose name really has such characters can still be forbidden, and a space may be expected', async () => {
    const checks = 'path: {forbidden_tools: ["Delegate?work"], expected_tools: ["Ask a question"]}';
    const cwd = tempDir({
      'agentci_spec.yaml': spec(`  - {query: q, ${checks}}\n`),
      't.json': {
        query: 'q',
        answer: 'x',
        tool_calls: [{ name: 'Delegate work' }, { name: 'Ask a question' }],
      },
    });
    const { code, stdout } = await cli(['test', '--traces', 't.json', '-f', 'json'], { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).results[0].path.checks).toMatchObject([
      { id: 'path.expected_tools', status: 'pass' },
      { id: 'path.forbidden_tools', status: 'fail' },
    ]);
  });
});

describe('what does not show', () => {
  // Zero-width characters, joiners, direction marks, fillers, selectors, tags.
  const HIDDEN = [
    '200b',
    '200c',
    '200d',
    '2060',
    'feff',
    '00ad',
    '200e',
    '202e',
    '2066',
    '3164',
    'fe0f',
    'e0041',
  ].map((hex) => String.fromCodePoint(Number.parseInt(hex, 16)));
  const cases: [string, (word: string) => object][] = [
    ['correctness: {not_in_answer: [password]}', (word) => ({ answer: `the ${word}` })],
    [
      'path: {forbidden_tools: [password]}',
      (word) => ({ answer: 'x', tool_calls: [{ name: word }] }),
    ],
    [
      'path: {forbidden_tools: ["pass*"]}',
      (word) => ({ answer: 'x', tool_calls: [{ name: word }] }),
    ],
    [
      'path: {rules: [{type: blocklist, tools: [password]}]}',
      (word) => ({ answer: 'x', tool_calls: [{ name: word }] }),
    ],
    ['policy: {blocklist: [password]}', (word) => ({ answer: 'x', tool_calls: [{ name: word }] })],
    [
      'policy: {tools: {deny: [password]}}',
      (word) => ({ answer: 'x', tool_calls: [{ name: word }] }),
    ],
    [
      'policy: {tools: {password: {arguments: {n: {type: number, max: 1}}}}}',
      (word) => ({ answer: 'x', tool_calls: [{ name: word, args: { n: 2 } }] }),
    ],
  ];
  test.each(cases)(
    '%s: no character hides a word in any of twelve ways',
    async (checks, recording) => {
      const queries = HIDDEN.map((_, i) => `  - {id: q${i}, query: q${i}, ${checks}}\n`).join('');
      const records = HIDDEN.map((char, i) => ({
        query: `q${i}`,
        ...recording(`pass${char}word`),
      }));
      const cwd = tempDir({ 'agentci_spec.yaml': spec(queries), 't.jsonl': lines(...records) });
      const { stdout } = await cli(['test', '--traces', 't.jsonl', '-f', 'json'], { cwd });
      const found = JSON.parse(stdout).results.map(({ status }: { status: string }) => status);
      expect(found).toEqual(HIDDEN.map(() => 'fail'));
    },
  );
});

describe('--fail-fast', () => {
  test('an expected failure does not end the run before the real one is seen', async () => {
    const queries =
      '  - {query: hi, xfail: known bug, correctness: {expected_in_answer: [zz]}}\n  - {query: ho, path: {forbidden_tools: [rm]}}\n';
    const cwd = tempDir({
      'agentci_spec.yaml': spec(queries),
      't.jsonl': lines(
        { query: 'hi', answer: 'ok' },
        { query: 'ho', answer: 'ok', tool_calls: [{ name: 'rm' }] },
      ),
    });
    expect((await cli(['test', '--traces', 't.jsonl', '--fail-fast'], { cwd })).code).toBe(1);
  });

  test('a failure that min_pass_rate allows does not end the run', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(
        '  - {query: q, runs: 3, min_pass_rate: 0.3, correctness: {expected_in_answer: [ok]}}\n',
      ),
      't.jsonl': lines(
        { query: 'q', answer: 'no' },
        { query: 'q', answer: 'ok' },
        { query: 'q', answer: 'ok' },
      ),
    });
    expect((await cli(['test', '--traces', 't.jsonl', '--fail-fast'], { cwd })).code).toBe(0);
  });
});

describe('--resume', () => {
  const project = () =>
    tempDir({
      'agentci_spec.yaml': spec(ok('a') + ok('b') + ok('c'), 'runner: {module: ./agent.mjs}\n'),
      'agent.mjs':
        "export default async (query) => { await new Promise((done) => setTimeout(done, query === 'a' ? 10 : 1500)); return 'ok'; };\n",
      't.jsonl': lines(
        { id: 'a', query: 'a', answer: 'no' },
        { id: 'b', query: 'b', answer: 'no' },
        { id: 'c', query: 'c', answer: 'no' },
      ),
    });

  async function killAfterFirst(cwd: string, ...args: string[]): Promise<void> {
    const child = spawn(process.execPath, [CLI, 'test', '-w', '1', ...args], {
      cwd,
      stdio: 'ignore',
    });
    const closed = new Promise((resolve) => child.on('close', resolve));
    const runs = join(cwd, '.agentci/runs');
    const journal = () =>
      existsSync(runs)
        ? readdirSync(runs)
            .map((id) => join(runs, id, 'results.jsonl'))
            // The folder exists a moment before the file.
            .map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
            .join('')
        : '';
    for (let tries = 0; tries < 500 && !journal().includes('"id":"a"'); tries++)
      await new Promise((done) => setTimeout(done, 20));
    child.kill('SIGKILL');
    await closed;
  }

  test('goes on with the runs it was started with', async () => {
    const cwd = project();
    await killAfterFirst(cwd, '-n', '2');
    const { stdout } = await cli(['test', '--resume', '-f', 'json', '-w', '6'], { cwd });
    const { results } = JSON.parse(stdout) as { results: { runs?: object[] }[] };
    expect(results.map(({ runs }) => runs?.length)).toEqual([2, 2, 2]);
  });

  test.each([
    { what: 'other recordings', args: ['--traces', 't.jsonl'] },
    { what: 'another selection', args: ['--filter', 'a'] },
    { what: 'another number of runs', args: ['-n', '3'] },
  ])('refuses $what', async ({ args }) => {
    const cwd = project();
    await killAfterFirst(cwd);
    expect(await cli(['test', '--resume', ...args], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('OPTIONS_CONFLICT'),
    });
  });
});

describe('stored runs', () => {
  const project = () =>
    tempDir({
      'agentci_spec.yaml': spec(ok('a') + ok('b')),
      't.jsonl': lines(
        { id: 'a', query: 'a', answer: 'ok' },
        { id: 'b', query: 'b', answer: 'no' },
      ),
    });
  const run = async (cwd: string) =>
    (
      JSON.parse((await cli(['test', '--traces', 't.jsonl', '-f', 'json'], { cwd })).stdout) as {
        run_id: string;
      }
    ).run_id;

  test('a stored run is not judged by recordings that have changed since', async () => {
    const cwd = project();
    const id = await run(cwd);
    expect((await cli(['eval', '--run', id], { cwd })).code).toBe(1);
    writeFileSync(
      join(cwd, 't.jsonl'),
      lines({ id: 'a', query: 'a', answer: 'ok' }, { id: 'b', query: 'b', answer: 'ok now' }),
    );
    expect(await cli(['eval', '--run', id], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RUN_RECORDINGS_GONE'),
    });
  });

  test('a run that was refused leaves nothing behind that hides the last one', async () => {
    const cwd = project();
    await run(cwd);
    expect((await cli(['test', '--traces', 't.jsonl', '-t', 'nope'], { cwd })).code).toBe(2);
    expect((await cli(['test', '--traces', 't.jsonl', '--resume'], { cwd })).stderr).toContain(
      'RESUME_REFUSED',
    );
    expect((await cli(['test', '--traces', 't.jsonl', '--failed'], { cwd })).code).toBe(1);
  });

  test('--failed says that a run.json is damaged, and takes its verdicts from the history', async () => {
    const cwd = project();
    const id = await run(cwd);
    writeFileSync(join(cwd, '.agentci/runs', id, 'run.json'), '{');
    const failed = () => cli(['test', '--traces', 't.jsonl', '--failed', '-f', 'json'], { cwd });
    const known = await failed();
    expect(JSON.parse(known.stdout).results.map((result: { id: string }) => result.id)).toEqual([
      'b',
    ]);
    expect(known.stderr).toContain('Its verdicts are taken from the history');
    for (const other of readdirSync(join(cwd, '.agentci/runs')))
      writeFileSync(join(cwd, '.agentci/runs', other, 'run.json'), '{');
    rmSync(join(cwd, '.agentci/history'), { recursive: true });
    const { code, stderr } = await failed();
    expect(code).toBe(2);
    expect(stderr).toContain('RUN_DAMAGED');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test.each([['report'], ['export-metrics']])(
    '%s reports a damaged run.json without a stack',
    async (...args) => {
      const cwd = project();
      const id = await run(cwd);
      writeFileSync(join(cwd, '.agentci/runs', id, 'run.json'), '{');
      const { code, stderr } = await cli(args, { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain('RUN_DAMAGED');
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );
});

describe('reports', () => {
  const project = () =>
    tempDir({
      'agentci_spec.yaml': spec(ok('a')),
      't.jsonl': lines({ id: 'a', query: 'a', answer: 'ok' }),
    });

  test.each([
    { what: 'the spec', args: ['-f', 'json=agentci_spec.yaml'], code: 'OPTIONS_CONFLICT' },
    { what: 'the recordings', args: ['-f', 'junit=t.jsonl'], code: 'OPTIONS_CONFLICT' },
    {
      what: 'each other',
      args: ['-f', 'json=x.json', '-f', 'junit=x.json'],
      code: 'OPTIONS_CONFLICT',
    },
  ])('never replace $what', async ({ args, code }) => {
    const cwd = project();
    const before = readFileSync(join(cwd, 't.jsonl'), 'utf8');
    expect(await cli(['test', '--traces', 't.jsonl', ...args], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(code),
    });
    expect(readFileSync(join(cwd, 't.jsonl'), 'utf8')).toBe(before);
  });
});

describe('agentci report', () => {
  test.each([
    {
      what: 'a file that is only called a result is refused by its missing part',
      file: { schema: 'agentci.results/1', summary: {} },
      args: ['-o', 'report.html'],
      says: /it has no "agent" \[FILE_UNREADABLE\]/,
    },
    {
      what: 'the file it reads is not written over',
      file: { schema: 'agentci.results/1' },
      args: ['-f', 'markdown=results.json'],
      says: /OPTIONS_CONFLICT/,
    },
  ])('$what', async ({ file, args, says }) => {
    const cwd = tempDir({ 'results.json': file });
    const { code, stderr } = await cli(['report', '-i', 'results.json', ...args], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
    expect(JSON.parse(readFileSync(join(cwd, 'results.json'), 'utf8'))).toEqual(file);
  });
});

describe.skipIf(process.platform !== 'linux')('reports into a special file', () => {
  const project = () =>
    tempDir({
      'agentci_spec.yaml': spec(ok('a')),
      't.jsonl': lines({ id: 'a', query: 'a', answer: 'ok' }),
    });

  test('a link to the spec is the spec', async () => {
    const cwd = project();
    symlinkSync('agentci_spec.yaml', join(cwd, 'report.json'));
    const { code, stderr } = await cli(['test', '--traces', 't.jsonl', '-o', 'report.json'], {
      cwd,
    });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('OPTIONS_CONFLICT'),
    });
    expect(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8')).toBe(spec(ok('a')));
  });

  test('a document cut off by a full disk is not a green run, and no stack is printed', async () => {
    const cwd = project();
    const { code, stderr } = await shell(
      `"$NODE" "$CLI" test --traces t.jsonl -f json > /dev/full`,
      cwd,
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/^agentci: stdout cannot be written: .*ENOSPC/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

function shell(command: string, cwd: string): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', command], {
      cwd,
      env: { ...process.env, NODE: process.execPath, CLI },
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('close', (code) => resolve({ code, stderr }));
  });
}

describe('reports the skipped parts', () => {
  test('files of a folder that are not read', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(ok('a')),
      'traces/a.jsonl': lines({ id: 'a', query: 'a', answer: 'ok' }),
      'traces/b.log': '{}',
      'outside.jsonl': '{}',
    });
    symlinkSync(join(cwd, 'outside.jsonl'), join(cwd, 'traces', 'link.jsonl'));
    const { stdout } = await cli(['test', '--traces', 'traces'], { cwd });
    expect(stdout).toMatch(/skipped, not recordings.*traces\/b\.log.*traces\/link\.jsonl/);
  });

  test('costs that --max-cost cannot count', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(ok('a'), 'runner: {module: ./agent.mjs}\n'),
      'agent.mjs':
        "export default () => ({ answer: 'ok', llm_calls: [{ model: 'unknown-x', input_tokens: 1e9, output_tokens: 5 }] });\n",
    });
    expect((await cli(['test', '--max-cost', '0.0001'], { cwd })).stdout).toContain(
      'the cost of 1 run is not known',
    );
  });

  test('a pass rate of 0 lets everything pass', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(
        '  - {query: q, runs: 2, min_pass_rate: 0, correctness: {exact_match: x}}\n',
      ),
    });
    expect((await cli(['validate'], { cwd })).stdout).toMatch(
      /agentci_spec\.yaml:4:\d+ warning SPEC_CANNOT_FAIL/,
    );
  });
});

describe("a user's module", () => {
  const project = (module: string) =>
    tempDir({
      'agentci_spec.yaml': spec(
        '  - {query: q, correctness: {exact_match: ok}, metrics: [{tone: {min: 0.5}}]}\n',
        'use: [./tone.mjs]\n',
      ),
      't.json': { query: 'q', answer: 'ok' },
      'tone.mjs': module,
    });
  const metric = (evaluate: string) =>
    `export const metric = { name: 'tone', layer: 'correctness', better: 'higher', summary: 's', unit: 'score', needs: [], evaluate: ${evaluate} };\nexport default metric;\n`;

  test.each([
    { what: 'ends the process', module: 'process.exit(0);' },
    { what: 'never answers', module: metric('() => new Promise(() => {})') },
  ])('that $what gives no verdict', async ({ module }) => {
    expect((await cliProcess(['test', '--traces', 't.json'], { cwd: project(module) })).code).toBe(
      2,
    );
  });

  test('that prints does not get into the document', async () => {
    const { stdout } = await cliProcess(['test', '--traces', 't.json', '-f', 'json'], {
      cwd: project(
        `console.log('POLLUTE');\n${metric("() => ({ name: 'tone', value: 1, detail: {} })")}`,
      ),
    });
    expect(() => JSON.parse(stdout)).not.toThrow();
  });
});

test('a connection lost in the middle of an answer is an infrastructure error of that query alone', async () => {
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      if (!body.includes('"q2"')) return void response.end('ok');
      response.writeHead(200, { 'content-length': '100' });
      response.write('half an answer');
      setTimeout(() => response.destroy(), 20);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const cwd = tempDir({
    'agentci_spec.yaml': spec(ok('q1') + ok('q2'), `runner: {http: {url: "${url}"}, retries: 0}\n`),
  });
  const { code, stdout } = await cli(['test', '-f', 'json'], { cwd });
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    results: [
      { status: 'pass' },
      { status: 'error', error: { kind: 'infra', message: expect.stringContaining('[INFRA]') } },
    ],
  });
});

test.each(['runs: 1000000000', 'runs: 0'])('%s is refused', async (runs) => {
  const cwd = tempDir({
    'agentci_spec.yaml': spec(`  - {query: q, ${runs}, correctness: {exact_match: x}}\n`),
  });
  expect((await cli(['validate'], { cwd })).code).toBe(1);
});
