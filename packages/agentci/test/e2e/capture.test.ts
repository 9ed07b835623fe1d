import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ScriptedModel,
  type ScriptedRequest,
  startScriptedModel,
} from '@agentci/scripted-model';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

const KEY = 'sk-test-0123456789abcdefghij';
/**
 * The agents of these tests do not know AgentCI. They call a model in a loop and print its last
 * text.
 */
const PYTHON = `
import json, os, sys, urllib.request
question = json.load(sys.stdin)["query"]
messages = [{"role": "user", "content": question}]
while True:
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages, "tools": []}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "11 m"})
`;
const SHELL = `
curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" -H 'content-type: application/json' \\
  -d '{"model":"claude-haiku-4-5","max_tokens":100,"messages":[{"role":"user","content":"How deep is the well?"}]}' |
  sed 's/.*"text":"\\([^"]*\\)".*/\\1/'
`;
const MODULE = `
export default async function agent(query) {
  const messages = [{ role: 'user', content: query }];
  for (;;) {
    const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
    });
    const { message } = (await reply.json()).choices[0];
    messages.push(message);
    if (!message.tool_calls) return message.content;
    for (const { id } of message.tool_calls) messages.push({ role: 'tool', tool_call_id: id, content: '11 m' });
  }
}
`;

/** Requests the tool named in the question, as often as it occurs. */
function script({ messages }: ScriptedRequest) {
  const question = messages.find(({ role }) => role === 'user')?.text ?? '';
  const wanted = [...question.matchAll(/use (\w+)/g)].map(([, name]) => name!);
  const done = messages.filter(({ role }) => role === 'tool').length;
  if (question.includes('break down')) return { hangUp: true as const };
  if (done < wanted.length)
    return { toolCalls: [{ name: wanted[done]!, args: { well: question } }] };
  return { text: `Answer to ${question}: 11 metres` };
}

let model: ScriptedModel;
let env: Record<string, string>;
beforeAll(async () => {
  model = await startScriptedModel({ script });
  env = {
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: model.url,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: model.url.replace(/\/v1$/, ''),
  };
});
afterAll(() => model.close());

const spec = (
  queries: readonly object[],
  runner: object = { command: ['python3', 'agent.py'], capture: 'auto' },
) => JSON.stringify({ agent: 'well', runner, queries });

interface Result {
  readonly id: string;
  readonly status: string;
  readonly warnings: readonly { readonly code: string }[];
  readonly answer: string;
  readonly path: {
    readonly status: string;
    readonly details: { readonly tool_calls?: { readonly actual: number } };
  };
  readonly cost: {
    readonly status: string;
    readonly details: { readonly actual?: Record<string, number> };
  };
  readonly correctness: { readonly status: string };
}

async function run(files: Record<string, string>, args: readonly string[] = []) {
  const cwd = tempDir(files);
  const outcome = await cli(['test', '-f', 'json', ...args], { cwd, env });
  const results = (JSON.parse(outcome.stdout) as { results: readonly Result[] }).results;
  return { ...outcome, cwd, results };
}

describe('runner.capture', () => {
  it('gives an agent that only prints its answer all three layers', async () => {
    const query = {
      query: 'use lookup and use refund',
      correctness: { expected_in_answer: ['11 metres'] },
      path: {
        expected_tool_sequence: ['lookup', 'refund'],
        max_tool_calls: 2,
        forbidden_tools: ['dig'],
      },
      cost: { max_cost_usd: 0.01, max_llm_calls: 3, max_total_tokens: 500 },
    };
    const { code, results } = await run({ 'agentci_spec.yaml': spec([query]), 'agent.py': PYTHON });
    expect(results).toMatchObject([
      {
        status: 'pass',
        warnings: [],
        correctness: { status: 'pass' },
        path: { status: 'pass', details: { tool_calls: { actual: 2 } } },
        cost: { status: 'pass', details: { actual: { llm_calls: 3 } } },
      },
    ]);
    expect(code).toBe(0);
  });

  it('fails on a forbidden tool that only the capture could see', async () => {
    const query = { query: 'use dig', path: { forbidden_tools: ['dig'] } };
    const { code, results } = await run({ 'agentci_spec.yaml': spec([query]), 'agent.py': PYTHON });
    expect([code, results[0]!.path.status]).toEqual([1, 'fail']);
  });

  it('a module that calls a model after its answer: what passed may be wrong, so the run cannot tell', async () => {
    const late = MODULE.replace(
      'agent(query) {',
      'agent(query) {\n  if (query === "late") {\n    setTimeout(() => ask("use dig").catch(() => {}), 150);\n    return "fine";\n  }\n  await new Promise((done) => setTimeout(done, 600));\n  return ask(query);\n}\nasync function ask(query) {',
    );
    const queries = ['late', 'hello'].map((query) => ({
      query,
      path: { forbidden_tools: ['dig'] },
    }));
    const runner = { module: './agent.mjs', capture: 'auto' };
    const files = { 'agentci_spec.yaml': spec(queries, runner), 'agent.mjs': late };
    const { code, stdout } = await run(files, ['-w', '1']);
    expect((JSON.parse(stdout) as { checks: unknown }).checks).toMatchObject([
      { id: 'capture.late', status: 'error' },
    ]);
    expect(code).toBe(2);
  });

  it('could not tell without it', async () => {
    const query = { query: 'use dig', path: { forbidden_tools: ['dig'] } };
    const runner = { command: ['python3', 'agent.py'], capture: 'off' };
    const { code, results } = await run({
      'agentci_spec.yaml': spec([query], runner),
      'agent.py': PYTHON,
    });
    expect([code, results[0]!.path.status]).toEqual([2, 'error']);
  });

  it('could not tell, with the reason, without any captured call, and the answer is still judged', async () => {
    const query = {
      query: 'hello',
      correctness: { expected_in_answer: ['fine'] },
      path: { forbidden_tools: ['dig'] },
      cost: { max_latency_ms: 60_000 },
    };
    const runner = { command: ['echo', 'fine'], capture: 'auto' };
    const { code, results } = await run({ 'agentci_spec.yaml': spec([query], runner) });
    expect(code).toBe(2);
    expect(results[0]).toMatchObject({
      correctness: { status: 'pass' },
      path: { status: 'error' },
      cost: { status: 'pass' },
      warnings: [{ code: 'CAPTURE_NOTHING' }],
    });
  });

  it.each([
    ['commands', { command: ['python3', 'agent.py'], capture: 'auto' }],
    ['modules', { module: './agent.mjs', capture: 'auto' }],
  ])('keeps apart what %s do at the same time', async (_, runner) => {
    const queries = Array.from({ length: 12 }, (_, i) => ({
      id: `q${i}`,
      query: Array.from({ length: i % 4 }, (_, n) => `use tool${i}_${n}`).join(' ') || `say ${i}`,
      path: {
        expected_tools: Array.from({ length: i % 4 }, (_, n) => `tool${i}_${n}`),
        max_tool_calls: i % 4,
      },
      cost: { max_llm_calls: (i % 4) + 1 },
    }));
    const files = {
      'agentci_spec.yaml': spec(queries, runner),
      'agent.py': PYTHON,
      'agent.mjs': MODULE,
    };
    const { results, code } = await run(files, ['-w', '4']);
    expect(results.map(({ status, warnings }) => [status, warnings.length])).toEqual(
      queries.map(() => ['pass', 0]),
    );
    expect(results.map(({ cost }) => cost.details.actual!.llm_calls)).toEqual(
      queries.map((_, i) => (i % 4) + 1),
    );
    expect(code).toBe(0);
  });

  it('writes no key anywhere', async () => {
    const { cwd } = await run({
      'agentci_spec.yaml': spec([{ query: 'use lookup' }]),
      'agent.py': PYTHON,
    });
    expect(filesBelow(cwd).length).toBeGreaterThan(3);
    for (const file of filesBelow(cwd)) expect(readFileSync(file, 'utf8')).not.toContain(KEY);
  });
});

describe('agentci capture', () => {
  it('leaves input, output and exit code to the program, and writes what it did', async () => {
    const cwd = tempDir({ 'agent.py': PYTHON });
    const { code, stdout, stderr } = await withInput(
      ['capture', '--out', 'seen', '--', 'python3', 'agent.py'],
      cwd,
      '{"query": "use lookup"}',
    );
    expect([code, stdout]).toEqual([0, 'Answer to use lookup: 11 metres\n']);
    expect(stderr).toContain('2 model calls · 1 tool call: lookup · ');
    expect(readdirSync(join(cwd, 'seen')).sort()).toEqual([
      'capture.json',
      'exchanges.jsonl',
      'traces.jsonl',
    ]);
    expect(statSync(join(cwd, 'seen')).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(join(cwd, 'seen'))) {
      expect(statSync(join(cwd, 'seen', file)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(cwd, 'seen', file), 'utf8')).not.toContain(KEY);
    }
    expect(JSON.parse(readFileSync(join(cwd, 'seen/capture.json'), 'utf8'))).toMatchObject({
      schema: 'agentci.capture/1',
      exit: { code: 0 },
      overridden: ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'],
      llm_calls: 2,
      tool_calls: { lookup: 1 },
      captured: { toolCalls: 'full', llmCalls: 'full' },
    });
  });

  it('writes files that test and import read without it', async () => {
    const cwd = tempDir({
      'agent.py': PYTHON,
      'agentci_spec.yaml': spec([
        { query: 'use lookup', path: { expected_tools: ['lookup'], max_tool_calls: 1 } },
      ]),
    });
    await withInput(
      ['capture', '--out', 'seen', '--', 'python3', 'agent.py'],
      cwd,
      '{"query": "use lookup"}',
    );
    expect((await cli(['test', '--traces', 'seen'], { cwd })).code).toBe(0);
    const { stdout, code } = await cli(['import', 'seen/exchanges.jsonl', '--json'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('agentci-exchange');
  });

  it('captures a shell script with curl', async () => {
    const cwd = tempDir({ 'agent.sh': SHELL });
    const { code, stdout, stderr } = await cli(['capture', '--', 'sh', 'agent.sh'], { cwd, env });
    expect([code, stdout]).toEqual([0, 'Answer to How deep is the well?: 11 metres']);
    expect(stderr).toContain('1 model call · no tool calls');
  });

  it.each([
    ['the code of a program that failed', ['sh', '-c', 'exit 7'], 7],
    ['128 and the signal that ended it', ['sh', '-c', 'kill -9 $$'], 137],
    ['2 when nothing was captured', ['true'], 2],
    ['2 when the program does not exist', ['no-such-program-here'], 2],
  ])('exits with %s', async (_, command, expected) => {
    const cwd = tempDir();
    const { code, stdout } = await cli(['capture', '--', ...command], { cwd, env });
    expect([code, stdout]).toEqual([expected, '']);
    expect(filesBelow(cwd).some((file) => file.endsWith('traces.jsonl'))).toBe(false);
  });

  it('says that a broken call leaves the calls partly known', async () => {
    const cwd = tempDir({
      'agent.py': PYTHON.replace(/ *message = json/, '    import socket\n$&'),
    });
    const { code, stderr } = await withInput(
      ['capture', '--json', '--', 'python3', 'agent.py'],
      cwd,
      '{"query": "break down"}',
    );
    expect(code).not.toBe(0);
    const about = JSON.parse(
      stderr.split('\n').find((line) => line.startsWith('{"folder"'))!,
    ) as Record<string, unknown>;
    expect(about).toMatchObject({ llm_calls: 0, failed_calls: 1, exit: { code: 1 } });
  });

  it('prints the variables and serves until it is stopped, with --env-only', async () => {
    const cwd = tempDir();
    const child = spawn(process.execPath, [CLI, 'capture', '--env-only', '--out', 'seen'], {
      cwd,
      env: { ...process.env, ...env },
    });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    while (!printed.includes('OPENAI_BASE_URL')) await once(child.stdout, 'data');
    const url = /export OPENAI_BASE_URL='([^']+)'/.exec(printed)![1]!;
    const reply = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(reply.status).toBe(200);
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(readdirSync(join(cwd, 'seen'))).toContain('traces.jsonl');
  });

  it('stops its program when it is stopped', async () => {
    const cwd = tempDir();
    const child = spawn(
      process.execPath,
      [CLI, 'capture', '--', 'sh', '-c', 'echo $$; exec sleep 60'],
      {
        cwd,
        env: { ...process.env, ...env },
      },
    );
    const [pid] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(130);
    expect(() => process.kill(Number(pid.toString()), 0)).toThrow();
  });

  it.each([
    ['no program', ['capture'], 'OPTION_INVALID'],
    ['a program beside --env-only', ['capture', '--env-only', '--', 'true'], 'OPTION_INVALID'],
    ['an unknown plane', ['capture', '--planes', 'llm,mpc', '--', 'true'], 'OPTION_INVALID'],
    ['an unknown provider', ['capture', '--provider', 'opnai', '--', 'true'], 'OPTION_INVALID'],
    [
      'an upstream without a provider',
      ['capture', '--upstream', 'http://x', '--', 'true'],
      'OPTION_INVALID',
    ],
    ['a folder that holds something', ['capture', '--out', 'full', '--', 'true'], 'FILE_EXISTS'],
  ])('refuses %s', async (_, args, expected) => {
    const cwd = tempDir({ 'full/a.txt': 'mine' });
    const { code, stderr } = await cli(args, { cwd, env });
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });
});

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

async function withInput(args: readonly string[], cwd: string, input: string) {
  mkdirSync(cwd, { recursive: true });
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { ...process.env, ...env, NO_COLOR: '1' },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { code, stdout, stderr };
}
