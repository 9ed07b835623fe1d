import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI } from '@agentci/testing/cli';
import { LanguageClient, uriOf } from '@agentci/testing/language-client';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterEach, describe, expect, test } from 'vitest';
import type {
  CodeAction,
  CodeLens,
  CompletionItem,
  Hover,
  Location,
} from 'vscode-languageserver/node';
import { cli } from '../support/cli.ts';

// Tests the built server over stdio with a client that editors use.

const root = fileURLToPath(new URL('../../../../', import.meta.url));

const SPEC = `version: 1
agent: support
queries:
  - id: refund
    query: How do I get a refund?
    correctness:
      expected_in_answer: [30 days]
    path:
      expected_tools: [search_docs]
      max_tool_calls: 1
`;
const trace = (id: string, tools: string[]) =>
  JSON.stringify({
    id,
    query: 'How do I get a refund?',
    answer: 'Within 30 days.',
    tool_calls: tools.map((name) => ({ name, args: {}, result: 'ok' })),
  });

const clients: LanguageClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.process.kill();
});

async function editor(cwd: string, options?: object): Promise<LanguageClient> {
  const client = new LanguageClient([process.execPath, CLI, 'lsp', '--stdio'], { cwd });
  clients.push(client);
  await client.initialize(cwd, options);
  return client;
}

/** The text without its mark, and the position of the mark. */
function marked(text: string): { text: string; position: { line: number; character: number } } {
  const at = text.indexOf('‸');
  const lines = text.slice(0, at).split('\n');
  return {
    text: text.replace('‸', ''),
    position: { line: lines.length - 1, character: lines.at(-1)!.length },
  };
}

/** Opens a text and sends a request for the position of `‸`. */
async function ask<T>(
  client: LanguageClient,
  file: string,
  method: string,
  written: string,
): Promise<T> {
  const { text, position } = marked(written);
  await client.open(file, text);
  return client.request<T>(method, { textDocument: { uri: uriOf(file) }, position });
}

describe('diagnostics', () => {
  const BAD = join(root, 'packages/testing/bad-specs');

  test('bad specs give the findings of validate, on text that was never saved', async () => {
    const client = await editor(BAD, { specs: ['*.yaml'] });
    const names = readdirSync(BAD).filter((name) => name.endsWith('.yaml'));
    const { stdout } = await cli(['validate', '--json', ...names], { cwd: BAD });
    const { files } = JSON.parse(stdout) as {
      files: {
        file: string;
        diagnostics: { file: string; line: number; column: number; code: string }[];
      }[];
    };
    for (const { file, diagnostics } of files) {
      const found = await client.open(join(BAD, file), readFileSync(join(BAD, file), 'utf8'));
      const expected = diagnostics.filter((one) => one.file === file);
      expect({
        file,
        found: found.map(({ range, code }) => [
          range.start.line + 1,
          range.start.character + 1,
          code,
        ]),
      }).toEqual({
        file,
        found: expected.map(({ line, column, code }) => [line, column, code]),
      });
    }
  });

  test('follow the text as it is typed', async () => {
    const cwd = tempDir();
    const client = await editor(cwd);
    const file = join(cwd, 'agentci_spec.yaml');
    expect(await client.open(file, SPEC)).toEqual([]);
    expect(await client.change(file, SPEC.replace('max_tool_calls', 'max_tools'))).toMatchObject([
      {
        code: 'SPEC_UNKNOWN_KEY',
        range: { start: { line: 9, character: 6 }, end: { line: 9, character: 15 } },
        severity: 1,
      },
    ]);
    expect(await client.change(file, SPEC)).toEqual([]);
  });

  test.each([
    {
      what: 'a policy',
      name: 'rules.yaml',
      line: '    policy: rules.yaml\n',
      good: 'tools: {deny: [wipe]}\n',
      bad: 'tools: {denny: [wipe]}\n',
    },
    {
      what: 'an included file',
      name: 'shared.yaml',
      line: '    cost: !include shared.yaml\n',
      good: 'max_llm_calls: 2\n',
      bad: 'max_llm_cals: 2\n',
    },
  ])(
    'see $what that a spec names as it is in the editor, not as it is on disk',
    async ({ name, line, good, bad }) => {
      const cwd = tempDir({ [name]: bad });
      const client = await editor(cwd);
      const [spec, other] = [join(cwd, 'agentci_spec.yaml'), join(cwd, name)];
      await client.open(other, good);
      expect(await client.open(spec, SPEC + line)).toEqual([]);
      await client.changeUntil(other, bad, 1);
      await client.changeUntil(other, good, 0);
    },
  );

  test('are given for policies too, and not for YAML of others', async () => {
    const cwd = tempDir();
    const client = await editor(cwd);
    expect(
      await client.open(join(cwd, 'policy.yaml'), 'version: 1\nblocklst: [rm]\ntools: {}\n'),
    ).toMatchObject([{ code: 'POLICY_UNKNOWN_KEY', range: { start: { line: 1, character: 0 } } }]);
    expect(await client.open(join(cwd, 'compose.yaml'), 'services:\n  web: {image: x}\n')).toEqual(
      [],
    );
    expect(await client.open(join(cwd, 'rules.yaml'), '- {query: q, nonsense: 1}\n')).toEqual([]);
  });
});

test('did you mean is a quick fix that makes the text valid', async () => {
  const cwd = tempDir();
  const client = await editor(cwd);
  const file = join(cwd, 'agentci_spec.yaml');
  const [finding] = await client.open(file, SPEC.replace('max_tool_calls', 'max_tool_cals'));
  const [fix] = await client.request<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri: uriOf(file) },
    range: finding!.range,
    context: { diagnostics: [finding] },
  });
  expect(fix).toMatchObject({ title: 'Change to "max_tool_calls"', kind: 'quickfix' });
  expect(fix!.edit!.changes![uriOf(file)]).toEqual([
    {
      range: { start: { line: 9, character: 6 }, end: { line: 9, character: 19 } },
      newText: 'max_tool_calls',
    },
  ]);
});

describe('completion', () => {
  const files = {
    'traces.jsonl': `${trace('refund', ['search_docs', 'lookup_order'])}\n`,
    'policy.yaml':
      'version: 1\ntools:\n  issue_refund: {arguments: {amount: {type: number, maximum: 5}}}\nblocklist: [drop_table]\n',
    'baselines/support/v7/late.json': {
      schema: 'agentci.baseline/1',
      version: 'v7',
      agent: 'support',
      query: 'q',
      query_id: 'late',
      metadata: {},
      trace: JSON.parse(trace('late', ['from_baseline'])),
    },
  };
  const HEAD = 'agent: support\npolicy: policy.yaml\nqueries:\n  - query: q\n';
  test.each([
    ['keys of the root', 'agent: a\n‸', ['queries', 'runner', 'judge_config']],
    ['keys of a query', `${HEAD}    ‸`, ['path', 'rows', 'skip', 'tags']],
    ['keys of a query that begins', 'agent: a\nqueries:\n  - ‸', ['id', 'query']],
    [
      'checks of a layer',
      `${HEAD}    path:\n      max_‸`,
      ['max_tool_calls', 'forbidden_tools', 'severity'],
    ],
    ['checks in brackets', `${HEAD}    path: {‸`, ['max_tool_calls']],
    [
      'checks inside of combinators',
      `${HEAD}    correctness:\n      any:\n        - ‸`,
      ['expected_in_answer', 'not'],
    ],
    ['keys of the runner', 'agent: a\nrunner:\n  ‸', ['command', 'http', 'replay']],
    ['values of a choice', `${HEAD}    path:\n      severity: ‸`, ['warn', 'fail']],
    [
      'tools of recordings',
      `${HEAD}    path:\n      expected_tools: [‸`,
      ['lookup_order', 'search_docs', 'from_baseline'],
    ],
    [
      'tools of the policy',
      `${HEAD}    path:\n      forbidden_tools:\n        - ‸`,
      ['issue_refund', 'drop_table'],
    ],
    [
      'tools of a call',
      `${HEAD}    path:\n      expected_tool_args:\n        - tool: ‸`,
      ['lookup_order'],
    ],
    ['ids of recordings', 'agent: support\nqueries:\n  - id: ‸', ['late']],
    ['versions of baselines', 'agent: support\nbaseline: ‸\nqueries: []\n', ['v7']],
    ['metrics', `${HEAD}    metrics:\n      - ‸`, ['faithfulness', 'tool_success']],
    [
      'rubrics',
      `${HEAD}    correctness:\n      llm_judge:\n        - template: ‸`,
      ['toxicity', 'task_completion'],
    ],
  ])('offers %s', async (_, written, labels) => {
    const cwd = tempDir(files);
    const client = await editor(cwd);
    const items = await ask<CompletionItem[]>(
      client,
      join(cwd, 'agentci_spec.yaml'),
      'textDocument/completion',
      written,
    );
    expect(items.map(({ label }) => label)).toEqual(expect.arrayContaining(labels));
  });

  test.each([
    ['keys', 'version: 1\nblocklist: [x]\n‸', ['sequences', 'limits']],
    ['types of rules', 'version: 1\nrules:\n  - type: ‸', ['max_calls', 'before']],
    ['fields of rules', 'version: 1\nrules:\n  - type: max_calls\n    ‸', ['tool', 'max']],
    ['tools', 'version: 1\nblocklist: [‸', ['lookup_order']],
  ])('in a policy offers %s', async (_, written, labels) => {
    const cwd = tempDir(files);
    const client = await editor(cwd);
    const items = await ask<CompletionItem[]>(
      client,
      join(cwd, 'policy.yaml'),
      'textDocument/completion',
      written,
    );
    expect(items.map(({ label }) => label)).toEqual(expect.arrayContaining(labels));
  });
});

describe('go to definition', () => {
  const files = {
    'shared.yaml': 'rubrics:\n  polite: {rule: r, threshold: 0.7}\n',
    'policy.yaml': 'blocklist: [x]\n',
    'cases.csv': 'a\n1\n',
    'tone.ts': '// a module\nexport const isPolite = () => true;\n',
  };
  test.each([
    ['!include', 'agent: a\nqueries: !include sha‸red.yaml\n', 'shared.yaml', 0],
    [
      '!include with a pointer',
      'queries:\n  - {query: q, path: !include "shared.yaml#/rub‸rics/polite"}\n',
      'shared.yaml',
      1,
    ],
    ['$ref', 'queries:\n  - $ref: shared.yaml#/rubrics/po‸lite\n', 'shared.yaml', 1],
    ['$ref in the same file', 'a: 1\nb: {$ref: "#/‸a"}\n', 'agentci_spec.yaml', 0],
    ['policy', 'agent: a\npolicy: pol‸icy.yaml\n', 'policy.yaml', 0],
    ['rows', 'queries:\n  - rows: ca‸ses.csv\n', 'cases.csv', 0],
    ['code', 'queries:\n  - {query: q, path: {code: ./to‸ne.ts#isPolite}}\n', 'tone.ts', 1],
  ])('of %s', async (_, written, name, line) => {
    const cwd = tempDir(files);
    const client = await editor(cwd);
    const found = await ask<Location>(
      client,
      join(cwd, 'agentci_spec.yaml'),
      'textDocument/definition',
      written,
    );
    expect(found).toMatchObject({
      uri: expect.stringMatching(new RegExp(`/${name}$`)),
      range: { start: { line } },
    });
  });

  test.each([
    'policy: ../../etc/pas‸swd\n',
    'policy: /etc/pas‸swd\n',
    'policy: no‸ne.yaml\n',
    'agent: a‸\n',
  ])('leads nowhere for %j', async (written) => {
    const cwd = tempDir(files);
    const client = await editor(cwd);
    expect(
      await ask(client, join(cwd, 'agentci_spec.yaml'), 'textDocument/definition', written),
    ).toBeNull();
  });
});

describe('hover and lenses', () => {
  test('a check shows its page and the last verdict', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': SPEC,
      'traces.jsonl': `${trace('refund', ['search_docs', 'search_docs'])}\n`,
    });
    await cli(['test', '--traces', 'traces.jsonl', '--quiet'], { cwd });
    const client = await editor(cwd);
    const file = join(cwd, 'agentci_spec.yaml');
    const check = await ask<Hover>(
      client,
      file,
      'textDocument/hover',
      SPEC.replace('max_tool', 'max‸_tool'),
    );
    const { value } = check.contents as { value: string };
    expect(value).toContain('the run may call tools at most this often');
    expect(value).toMatch(/Last verdict: \*\*warn\*\*: .*2/);
    const query = await ask<Hover>(
      client,
      file,
      'textDocument/hover',
      SPEC.replace('query: How', 'que‸ry: How'),
    );
    expect((query.contents as { value: string }).value).toMatch(
      /What the agent is asked[\s\S]*\*\*warn\*\*/,
    );
  });

  test('a mistake in one query keeps the lenses of all at their new lines', async () => {
    const cwd = tempDir();
    const client = await editor(cwd);
    const file = join(cwd, 'agentci_spec.yaml');
    await client.open(file, `# two\n${SPEC}  - {id: second, query: b, path: {max_tools: 1}}\n`);
    const lenses = await client.request<CodeLens[]>('textDocument/codeLens', {
      textDocument: { uri: uriOf(file) },
    });
    expect(
      lenses.map(({ range, command }) => [range.start.line, command?.arguments?.at(-1)]),
    ).toEqual([
      [4, 'refund'],
      [11, 'second'],
    ]);
  });

  test('each query has a lens with the command to run it', async () => {
    const cwd = tempDir();
    const client = await editor(cwd);
    const file = join(cwd, 'agentci_spec.yaml');
    await client.open(
      file,
      `${SPEC}  - {query: "{{n}}", id: row, rows: [{n: a}, {n: b}], path: {max_loops: 0}}\n`,
    );
    const lenses = await client.request<CodeLens[]>('textDocument/codeLens', {
      textDocument: { uri: uriOf(file) },
    });
    expect(lenses).toMatchObject([
      {
        range: { start: { line: 3 } },
        command: {
          title: 'Run this query',
          command: 'agentci.test',
          arguments: ['agentci', 'test', '-c', file, '--ids', 'refund'],
        },
      },
      { range: { start: { line: 10 } }, command: { title: 'Run these 2 queries' } },
    ]);
  });
});

describe('the session', () => {
  test('ends with 0 after a goodbye', async () => {
    const client = await editor(tempDir());
    expect(await client.close()).toBe(0);
  });

  test('ends when the editor is gone', async () => {
    const client = await editor(tempDir());
    client.process.stdin!.end();
    expect(await client.ended()).toBe(1);
  });

  test('ends when the process of the editor is gone, though the pipe is open', async () => {
    const editorProcess = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
    const cwd = tempDir();
    const client = new LanguageClient([process.execPath, CLI, 'lsp', '--stdio'], { cwd });
    clients.push(client);
    await client.request('initialize', {
      processId: editorProcess.pid,
      rootUri: null,
      capabilities: {},
    });
    editorProcess.kill('SIGKILL');
    expect(await client.ended()).toBe(1);
  });

  test('survives garbage on its input', async () => {
    const cwd = tempDir();
    const client = await editor(cwd);
    const stdin = client.process.stdin!;
    for (const garbage of [
      'hello\r\n\r\n',
      'Content-Length: abc\r\n\r\n',
      'Content-Length: 5\r\n\r\n{{{{{',
      'Content-Length: 4\r\n\r\nnull',
      'Content-Length: 2\r\n\r\n[]',
      Buffer.alloc(100_000, 0xff),
      '\r\n\r\n',
    ])
      stdin.write(garbage);
    expect(await client.open(join(cwd, 'agentci_spec.yaml'), 'agent: a\n')).toMatchObject([
      { code: 'SPEC_REQUIRED' },
    ]);
    await expect(client.request('textDocument/hover', {})).rejects.toThrow();
    await expect(client.request('no/such/method', {})).rejects.toThrow();
    expect(await client.close()).toBe(0);
  });

  test('writes nothing and runs nothing', async () => {
    const cwd = tempDir({
      'evil.mjs': `import { writeFileSync } from 'node:fs';\nwriteFileSync('ran', '');\nexport default () => '';\n`,
      'traces.jsonl': `${trace('refund', ['search_docs'])}\n`,
    });
    const text = `use: [./evil.mjs]\nrunner: {module: ./evil.mjs}\n${SPEC.replace('version: 1\n', '')}      code: ./evil.mjs\n`;
    writeFileSync(join(cwd, 'agentci_spec.yaml'), text);
    const before = readdirSync(cwd, { recursive: true }).map((name) => [
      name,
      statSync(join(cwd, String(name))).mtimeMs,
    ]);
    const client = await editor(cwd);
    const file = join(cwd, 'agentci_spec.yaml');
    await client.open(file, text);
    for (const method of ['completion', 'hover', 'definition'])
      await client.request(`textDocument/${method}`, {
        textDocument: { uri: uriOf(file) },
        position: { line: 1, character: 20 },
      });
    await client.request('textDocument/codeLens', { textDocument: { uri: uriOf(file) } });
    await client.close();
    const after = readdirSync(cwd, { recursive: true }).map((name) => [
      name,
      statSync(join(cwd, String(name))).mtimeMs,
    ]);
    expect(after).toEqual(before);
  });

  test('requires a transport option', async () => {
    const { code, stderr } = await cli(['lsp'], { cwd: tempDir() });
    expect(code).toBe(2);
    expect(stderr).toContain('agentci lsp --stdio');
  });
});
