import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

/** Two stored support conversations: one successful, one with a failed tool. */
const CHATS = [
  {
    id: 'good',
    model: 'gpt-4o-mini',
    usage: { prompt_tokens: 90, completion_tokens: 10 },
    messages: [
      { role: 'user', content: 'Where is order 17? My address is ada@example.org.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'find_order', arguments: '{"id":17}' } },
        ],
      },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: '{"state":"shipped","api_key":"hunter2-hunter2"}',
      },
      { role: 'assistant', content: 'It was shipped.' },
    ],
  },
  {
    id: 'cut',
    messages: [
      { role: 'user', content: 'Refund it' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c2', type: 'function', function: { name: 'refund', arguments: '{}' } }],
      },
    ],
  },
];

const SPANS = ['ok', 'error'].map((fate, i) => [
  {
    name: 'invoke_agent desk',
    trace_id: `${i}${'a'.repeat(31)}`,
    span_id: `${i}000000000000001`,
    start_time: 1_790_000_000_000_000_000,
    end_time: 1_790_000_002_000_000_000,
    status: {
      code: fate === 'ok' ? 'OK' : 'ERROR',
      ...(fate === 'ok' ? {} : { message: 'timeout' }),
    },
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'desk',
      'gen_ai.input.messages': JSON.stringify([
        { role: 'user', parts: [{ type: 'text', content: `Question ${i}` }] },
      ]),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: 'Answer' }] },
      ]),
    },
  },
  {
    name: 'execute_tool look',
    trace_id: `${i}${'a'.repeat(31)}`,
    span_id: `${i}000000000000002`,
    parent_span_id: `${i}000000000000001`,
    start_time: 1_790_000_000_500_000_000,
    end_time: 1_790_000_001_000_000_000,
    status: { code: 'UNSET' },
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.call.arguments': '{"q":1}',
    },
  },
]);

function project(files: Record<string, unknown>): string {
  const dir = tempDir();
  for (const [name, value] of Object.entries(files)) {
    let text: string;
    if (typeof value === 'string') text = value;
    else if (Array.isArray(value)) text = value.map((line) => JSON.stringify(line)).join('\n');
    else text = JSON.stringify(value);
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('agentci import', () => {
  test('says what a recording holds and what it does not', async () => {
    const cwd = project({ 'chats.jsonl': CHATS });
    const { code, stdout, stderr } = await cli(['import', 'chats.jsonl'], { cwd });
    expect(stderr).toBe('');
    expect(stdout).toMatchInlineSnapshot(`
      "openai-chat-completions
        traces    2
        tools     2 calls: find_order, refund
        models    3 calls, 100 tokens
        agents    0
        missing   results of tools (1 of 2), whether a tool failed, tokens (1 of 2), cost, times, agents, handoffs, messages between agents, retrieved documents, the answer (1 of 2)
      "
    `);
    expect(code).toBe(0);
  });

  test('tells the same as JSON, and nothing else', async () => {
    const cwd = project({ 'spans.json': JSON.stringify(SPANS.flat()) });
    const { code, stdout } = await cli(['import', 'spans.json', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      formats: [
        {
          format: 'otel-genai',
          dialects: ['genai'],
          traces: 2,
          failures: 1,
          tools: ['look'],
          agents: ['desk'],
        },
      ],
      problems: [],
      written: [],
      dry_run: false,
    });
    expect(code).toBe(0);
  });

  test('makes a test of a recording that passes on it, and fails on a worse one', async () => {
    const cwd = project({ 'chats.jsonl': CHATS.slice(0, 1) });
    const made = await cli(['import', 'chats.jsonl', '--to-spec', '--agent', 'desk'], { cwd });
    expect(made.stdout).toContain('next: agentci test -c agentci_spec.yaml');
    expect(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8')).toContain(
      'expected_tools: ["find_order"]',
    );
    expect(await cli(['validate', 'agentci_spec.yaml'], { cwd })).toMatchObject({ code: 0 });
    expect(await cli(['test', '--strict'], { cwd })).toMatchObject({ code: 0 });
    expect((await cli(['baselines'], { cwd })).stdout).toContain('imported');
    const worse = { ...CHATS[0], usage: { prompt_tokens: 900, completion_tokens: 100 } };
    writeFileSync(join(cwd, 'worse.jsonl'), JSON.stringify(worse));
    const judged = await cli(['test', '--traces', 'worse.jsonl', '--strict'], { cwd });
    expect(judged.stdout).toContain('max_total_tokens: tokens: 1000, limit 130');
    expect(judged.code).toBe(1);
  });

  test('keeps only the runs that failed when asked to, and says what they are on their own recording', async () => {
    const cwd = project({ 'spans.json': JSON.stringify(SPANS.flat()) });
    const { code, stdout } = await cli(
      ['import', 'spans.json', '--only-failures', '--to-spec', 'failures.yaml'],
      {
        cwd,
      },
    );
    expect(stdout).toContain('traces    1, 1 of them failed');
    expect(readFileSync(join(cwd, 'failures.yaml'), 'utf8')).toContain('"Question 1"');
    expect(code).toBe(0);
    const good = project({ 'spans.json': JSON.stringify(SPANS[0]) });
    expect(await cli(['import', 'spans.json', '--only-failures'], { cwd: good })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no run of these recordings failed'),
    });
  });

  test('leaves no address and no key in anything it writes or shows with --redact', async () => {
    const cwd = project({ 'in/chats.jsonl': CHATS.slice(0, 1) });
    const { stdout } = await cli(
      [
        'import',
        'in/chats.jsonl',
        '--redact',
        '--to-spec',
        'out/spec.yaml',
        '-o',
        'out/traces.jsonl',
      ],
      { cwd },
    );
    const written = filesIn(join(cwd, 'out'));
    expect(written.length).toBeGreaterThanOrEqual(3);
    for (const text of [stdout, ...written.map((file) => readFileSync(file, 'utf8'))]) {
      expect(text).not.toContain('ada@example.org');
      expect(text).not.toContain('hunter2');
    }
    expect(readFileSync(join(cwd, 'out/traces.jsonl'), 'utf8')).toContain('[email]');
    expect(await cli(['test', '-c', 'out/spec.yaml'], { cwd })).toMatchObject({ code: 0 });
  });

  test('writes all or nothing: neither over an existing baseline, nor spec and traces into one file', async () => {
    const cwd = project({ 'chats.jsonl': CHATS.slice(0, 1) });
    const toSpec = ['import', 'chats.jsonl', '--to-spec', 'spec.yaml', '-o', 'traces.jsonl'];
    await cli(toSpec, { cwd });
    for (const file of ['spec.yaml', 'traces.jsonl']) rmSync(join(cwd, file));
    const again = await cli(toSpec, { cwd });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('FILE_EXISTS') });
    expect(again.stderr).not.toContain(cwd);
    const both = await cli(
      ['import', 'chats.jsonl', '--to-spec', 'both.yaml', '-o', './both.yaml'],
      { cwd },
    );
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('OPTIONS_CONFLICT') });
    for (const file of ['spec.yaml', 'traces.jsonl', 'both.yaml'])
      expect(existsSync(join(cwd, file))).toBe(false);
  });

  test('writes ATIF that reads back as the same run', async () => {
    const cwd = project({ 'chats.jsonl': CHATS.slice(0, 1) });
    await cli(['import', 'chats.jsonl', '-o', 'out.jsonl', '--as', 'atif'], { cwd });
    const { stdout } = await cli(['import', 'out.jsonl', '--json'], { cwd });
    expect(JSON.parse(stdout).formats).toMatchObject([
      { format: 'atif', traces: 1, tools: ['find_order'], tokens: 100, llm_calls: 2 },
    ]);
  });

  test('writes nothing on a dry run, and overwrites nothing by default', async () => {
    const cwd = project({ 'chats.jsonl': CHATS.slice(0, 1) });
    const dry = await cli(['import', 'chats.jsonl', '--to-spec', '--dry-run'], { cwd });
    expect(dry.stdout).toContain('would write agentci_spec.yaml');
    expect(readdirSync(cwd)).toEqual(['chats.jsonl']);
    writeFileSync(join(cwd, 'agentci_spec.yaml'), 'mine');
    const refused = await cli(['import', 'chats.jsonl', '--to-spec'], { cwd });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('FILE_EXISTS') });
    expect(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8')).toBe('mine');
    expect(existsSync(join(cwd, 'traces'))).toBe(false);
    expect(await cli(['import', 'chats.jsonl', '--to-spec', '--force'], { cwd })).toMatchObject({
      code: 0,
    });
  });

  test.each([
    {
      when: 'a file is not a recording',
      files: { 'x.json': { some: 'thing' } },
      args: ['x.json'],
      code: 2,
      says: 'in no known format: it is an object with "some"',
    },
    {
      when: 'a file is not there',
      files: {},
      args: ['nowhere.json'],
      code: 2,
      says: 'TRACES_MISSING',
    },
    {
      when: 'a line among good ones is broken',
      files: { 'x.jsonl': `${JSON.stringify(CHATS[0])}\n{"messages": [\n` },
      args: ['x.jsonl'],
      code: 1,
      says: 'x.jsonl:2 TRACE_',
    },
    {
      when: 'a key appears twice',
      files: {
        'x.json':
          '{"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"1","content":"x","content":"y"}]}',
      },
      args: ['x.json'],
      code: 2,
      says: '"content" is given twice',
    },
    {
      when: 'the format does not exist',
      files: { 'x.json': {} },
      args: ['x.json', '--trace-format', 'langsmit'],
      code: 2,
      says: 'did you mean "langsmith"?',
    },
    {
      when: 'no question was recorded',
      files: {
        'x.json': {
          messages: [
            {
              role: 'assistant',
              content: 'hi',
              tool_calls: [{ id: '1', function: { name: 't', arguments: '{}' } }],
            },
          ],
        },
      },
      args: ['x.json', '--to-spec'],
      code: 2,
      says: 'does not say what was asked',
    },
  ])('answers $code when $when', async ({ files, args, code, says }) => {
    const outcome = await cli(['import', ...args], { cwd: project(files) });
    expect(outcome.stdout + outcome.stderr).toContain(says);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).not.toContain('    at ');
  });

  test('text of a recording cannot reach the terminal as more than text', async () => {
    const evil = {
      ...CHATS[0],
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: '1', function: { name: 'a\u001b[2Jb\r\nwrote evil', arguments: '{}' } },
          ],
        },
      ],
    };
    const { stdout } = await cli(['import', 'x.json'], { cwd: project({ 'x.json': evil }) });
    expect(stdout).not.toContain('\u001b');
    expect(stdout.split('\n').some((line) => line.startsWith('wrote'))).toBe(false);
  });
});
