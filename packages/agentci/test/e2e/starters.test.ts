import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScriptedModel } from '@agentci/scripted-model';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const docs = fileURLToPath(new URL('../../../../docs/', import.meta.url));

/** A folder with the files of the docs and one spec. */
function folder(spec: string): string {
  const dir = tempDir({ 'agentci_spec.yaml': spec });
  cpSync(join(docs, 'guide', 'starters'), join(dir, 'starters'), { recursive: true });
  cpSync(join(docs, 'checks', 'examples'), join(dir, 'examples'), { recursive: true });
  return dir;
}

/** The documented file, and the executed file. */
test.each([
  { page: 'guide/runners.md', file: 'guide/starters/serve.py' },
  { page: 'guide/runners.md', file: 'guide/starters/serve.mjs' },
  { page: 'guide/runners.md', file: 'guide/starters/server.py' },
  { page: 'checks/code.md', file: 'checks/examples/agentci_check.py' },
  { page: 'checks/code.md', file: 'checks/examples/check.py' },
  { page: 'checks/code.md', file: 'checks/examples/tone.ts' },
])('$page shows $file as it is', ({ page, file }) => {
  expect(readFileSync(join(docs, page), 'utf8')).toContain(
    `\n${readFileSync(join(docs, file), 'utf8').trim()}\n`,
  );
});

const QUERIES = `queries:
  - {id: a, query: Where is my order?, correctness: {expected_in_answer: [order, Where is my order], expr: 'size(calls) == 0'}}
  - {id: b, query: And the other order?, correctness: {expected_in_answer: [And the other], not: {expected_in_answer: [sorry]}}}
  - {id: c, query: The third order?, correctness: {expected_in_answer: [The third], code: {command: [python3, examples/order.py]}}}
`;

describe('starters of the docs', () => {
  test.each([
    {
      name: 'Python that stays up',
      runner: '{command: [python3, starters/serve.py], mode: serve}',
    },
    { name: 'Node that stays up', runner: '{command: [node, starters/serve.mjs], mode: serve}' },
    {
      name: 'a Python server for the run',
      runner:
        '{http: {url: "http://127.0.0.1:18099/ask", start: [python3, starters/server.py, "18099"], ready: "http://127.0.0.1:18099/health"}}',
    },
  ])('$name: three queries pass', async ({ runner }) => {
    const dir = folder(`agent: support\nrunner: ${runner}\n${QUERIES}`);
    const check =
      'from agentci_check import check\n\ncheck(lambda run: "order" in run["answer"])\n';
    cpSync(join(tempDir({ 'order.py': check }), 'order.py'), join(dir, 'examples', 'order.py'));
    const { code, stdout, stderr } = await cli(['test', '--format', 'json'], { cwd: dir });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { results } = JSON.parse(stdout) as { results: { id: string; status: string }[] };
    expect(results.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a pass',
      'b pass',
      'c pass',
    ]);
  });
});

test('validate never runs code, and says at which character an expression is wrong', async () => {
  const spec = `agent: a
queries:
  - query: q
    correctness:
      code: ./boom.mjs
      expr: |
        answer.size() > 3 &&
          answr == "x"
`;
  const dir = tempDir({
    'agentci_spec.yaml': spec,
    'boom.mjs': 'import { writeFileSync } from "node:fs"; writeFileSync("ran", "")',
  });
  const { code, stdout, stderr } = await cli(['validate'], { cwd: dir });
  expect(code).toBe(1);
  expect(`${stdout}${stderr}`).toContain('agentci_spec.yaml:8:11');
  expect(() => readFileSync(join(dir, 'ran'))).toThrow();
});

test('the part that decided is in the report', async () => {
  const spec = `agent: a
queries:
  - query: q
    correctness:
      any:
        - regex_match: nope
        - all:
            - expected_in_answer: [missing]
`;
  const dir = tempDir({
    'agentci_spec.yaml': spec,
    'traces.json': '{"query": "q", "answer": "hello"}',
  });
  const { code, stdout } = await cli(['test', '--traces', 'traces.json'], { cwd: dir });
  expect(code).toBe(1);
  expect(stdout).toContain(
    'any: 0 of 2 held (need at least 1); [0].regex_match: /nope/ is not found',
  );
});

test('what an agent that stays up does is captured query by query', async () => {
  const model = await startScriptedModel({ script: [{ text: 'one' }, { text: 'two' }] });
  const agent = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { query } = JSON.parse(line);
  const headers = { 'content-type': 'application/json', authorization: 'Bearer k' };
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: query }] });
  const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body });
  process.stdout.write(JSON.stringify((await reply.json()).choices[0].message.content) + '\\n');
}`;
  const spec = `agent: a
runner: {command: [node, agent.mjs], mode: serve, capture: auto, env: {OPENAI_BASE_URL: "${model.url}", OPENAI_API_KEY: k}}
queries:
  - {id: a, query: first, correctness: {exact_match: one}, path: {max_tool_calls: 0}, cost: {max_llm_calls: 1}}
  - {id: b, query: second, correctness: {exact_match: two}, path: {max_tool_calls: 0}, cost: {max_llm_calls: 1}}
`;
  try {
    const dir = tempDir({ 'agentci_spec.yaml': spec, 'agent.mjs': agent });
    const { code, stdout } = await cli(['test', '--workers', '1', '--format', 'json'], {
      cwd: dir,
    });
    const { results } = JSON.parse(stdout) as {
      results: { path: { status: string }; cost: { status: string } }[];
    };
    expect(results.map(({ path, cost }) => [path.status, cost.status])).toEqual([
      ['pass', 'pass'],
      ['pass', 'pass'],
    ]);
    expect(code).toBe(0);
  } finally {
    await model.close();
  }
});

test('a model is the agent: its prompt, its tokens, and no tool calls', async () => {
  const model = await startScriptedModel({ script: [{ text: 'Bonjour' }] });
  const spec = `agent: a
vars: {lang: French}
runner: {model: openai-chat:gpt-4o-mini, base_url: "${model.url}", prompt: prompts/translate.md}
queries:
  - query: Good morning
    correctness: {exact_match: Bonjour}
    path: {max_tool_calls: 0}
    cost: {expr: 'trace.llm_calls == 1 && trace.total_tokens > 0', max_cost_usd: 1}
`;
  try {
    const dir = tempDir({
      'agentci_spec.yaml': spec,
      'prompts/translate.md': 'Translate into {{lang}}.',
    });
    const { code, stdout } = await cli(['test', '--format', 'json'], {
      cwd: dir,
      env: { OPENAI_API_KEY: 'k' },
    });
    const [result] = (
      JSON.parse(stdout) as {
        results: { status: string; path: { status: string }; cost: { status: string } }[];
      }
    ).results;
    expect(result).toMatchObject({
      status: 'pass',
      path: { status: 'pass' },
      cost: { status: 'pass' },
    });
    expect(code).toBe(0);
    expect(JSON.stringify(model.requests[0])).toContain('Translate into French.');
    const without = await cli(['test'], { cwd: dir, env: { OPENAI_API_KEY: '' } });
    expect(without).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RUNNER_ENV_MISSING'),
    });
  } finally {
    await model.close();
  }
});
