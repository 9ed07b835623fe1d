import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const KEY = 'zx9-AbCdEf"123/456+';
const TOKEN = 'tok_0f9e8d7c6b5a4321';
const FORMS = [
  KEY,
  TOKEN,
  encodeURIComponent(KEY),
  Buffer.from(TOKEN).toString('base64'),
  JSON.stringify(KEY).slice(1, -1),
];

function filesUnder(dir: string): string[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

/** Every file below a folder that contains one of the secrets. */
const leaking = (dir: string): string[] =>
  filesUnder(dir).filter((path) => FORMS.some((form) => readFileSync(path, 'utf8').includes(form)));

const shows = (...texts: string[]): string[] =>
  FORMS.filter((form) => texts.some((text) => text.includes(form)));

test('no secret is shown or stored, from any source', async () => {
  const judge = await scriptedModel(() => ({ text: verdictText(5, 'pass', `it said ${KEY}`) }));
  const server = createServer((request, response) => {
    const key = String(request.headers['x-custom']);
    if (request.url === '/fails')
      response.writeHead(400).end(`bad key ${key} ${encodeURIComponent(key)}`);
    else
      response.end(
        JSON.stringify({
          answer: `ok ${key} ${Buffer.from(TOKEN).toString('base64')}`,
          tool_calls: [{ name: 'lookup', args: { key, header: `Bearer ${TOKEN}` } }],
        }),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: demo
runner:
  http: {url: "http://127.0.0.1:${(server.address() as AddressInfo).port}/{{query}}", headers: {x-custom: "\${UNSUSPICIOUS}"}}
judge_config: {model: "openai-compatible:m", base_url: ${judge.url}, structured_output: false}
queries:
  - {id: works, query: works, correctness: {expected_in_answer: [ok], llm_judge: [{rule: is polite}]}}
  - {id: leaks, query: leaks, correctness: {not_in_answer: ['AbCdEf']}}
  - {id: fails, query: fails, correctness: {expected_in_answer: [ok]}}
`,
  });
  const env = { UNSUSPICIOUS: KEY, GITHUB_TOKEN: TOKEN };
  const formats = [
    'json',
    'junit',
    'sarif',
    'prometheus',
    'markdown',
    'csv',
    'html',
    'console',
    'github',
  ];
  const reports = formats
    .filter((name) => name !== 'console')
    .flatMap((name) => ['-f', `${name}=out/${name}`]);
  const { code, stdout, stderr } = await cli(['test', '-f', 'console', ...reports], { cwd, env });
  expect(shows(stdout, stderr)).toEqual([]);
  expect(leaking(cwd)).toEqual([]);
  expect(stdout).toContain('[UNSUSPICIOUS]');
  // The check saw the agent's real output.
  const { results } = JSON.parse(readFileSync(join(cwd, 'out/json'), 'utf8'));
  expect(results.map(({ status }: { status: string }) => status)).toEqual([
    'pass',
    'fail',
    'error',
  ]);
  expect(results[0].warnings).toMatchObject([
    { code: 'SECRET_MASKED', message: expect.stringContaining('GITHUB_TOKEN, UNSUSPICIOUS') },
  ]);
  expect(code).toBe(1);
  expect(filesUnder(join(cwd, '.agentci/judge-cache')).length).toBeGreaterThan(0);

  for (const args of [
    ['report'],
    ['report', '-f', 'json'],
    ['save', '--version', 'v1', '--query', 'works'],
    ['baselines'],
  ]) {
    const again = await cli(args, { cwd, env });
    expect(shows(again.stdout, again.stderr)).toEqual([]);
  }
  expect(leaking(cwd)).toEqual([]);
  expect(filesUnder(join(cwd, 'baselines')).length).toBe(1);
}, 60_000);

test('a command that prints its keys, on stderr and in a stack, shows none of them', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: demo
runner: {command: [${process.execPath}, agent.cjs], env: {OTHER_SECRET: '${KEY.replaceAll("'", "''")}'}}
queries: [{query: q, correctness: {expected_in_answer: [ok]}}]
`,
    'agent.cjs':
      'console.error("using", process.env.GITHUB_TOKEN); throw new Error(process.env.OTHER_SECRET);',
  });
  const { code, stdout, stderr } = await cli(['test', '-o', 'r.json'], {
    cwd,
    env: { GITHUB_TOKEN: TOKEN },
  });
  expect(code).toBe(2);
  expect(shows(stdout, stderr)).toEqual([]);
  expect(readFileSync(join(cwd, 'r.json'), 'utf8')).toContain('using [GITHUB_TOKEN]');
  // The spec belongs to the user.
  expect(leaking(cwd).filter((path) => !path.endsWith('agentci_spec.yaml'))).toEqual([]);
});

test('what looks like a key is masked in a saved baseline unless it is asked to stay', async () => {
  const files = {
    'agentci_spec.yaml':
      'agent: demo\nqueries: [{id: q, query: q, correctness: {expected_in_answer: [ok]}}]\n',
    't.json': JSON.stringify({
      id: 'q',
      query: 'q',
      answer: 'ok, write to a@example.com',
      tool_calls: [
        {
          name: 'login',
          args: { password: 'hunter2hunter2', url: 'https://u:hunter2hunter2@x.example' },
        },
      ],
    }),
  };
  const saved = async (...extra: string[]) => {
    const cwd = tempDir(files);
    expect(
      (await cli(['save', '--version', 'v1', '--trace-file', 't.json', ...extra], { cwd })).code,
    ).toBe(0);
    return readFileSync(filesUnder(join(cwd, 'baselines'))[0]!, 'utf8');
  };
  const masked = await saved();
  expect(masked).not.toContain('hunter2');
  expect(masked).toContain('a@example.com');
  expect(await saved('--no-redact')).toContain('hunter2');
});

const TALKER = `
const asked = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const key = process.env.ACME_TOKEN;
console.log(JSON.stringify({ answer: 'your key is ' + key, tool_calls: [{ name: 't', args: { k: key, id: asked.id } }] }));
`;
const TALKER_SPEC = `agent: a
runner: {command: [${process.execPath}, agent.cjs]}
queries:
  - {id: one, query: x, correctness: {not_in_answer: [Zx9-qkTtm4]}}
  - {id: two, query: y, correctness: {regex_match: "^your key is [\\\\[\\\\]A-Z_]+$"}}
  - {id: three, query: z, correctness: {expected_in_answer: ["ACME_TOKEN"]}, metrics: [{pii_leakage: {min: 1, severity: fail}}]}
  - {id: four, query: z4, correctness: {not_in_answer: [zzz]}, policy: {tools: {t: {arguments: {k: {pattern: "^\\\\[ACME_TOKEN\\\\]$"}}}}}}
  - {id: five, query: z5, path: {expected_tool_args: [{tool: t, args: {k: "[ACME_TOKEN]"}}]}}
`;

test('a failed run does not become a passed one by the masking of what it said', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': TALKER_SPEC, 'agent.cjs': TALKER });
  const env = { ACME_TOKEN: 'Zx9-qkTtm4pLw82vbnRy' };
  const run = await cli(['test', '-f', 'json'], { cwd, env });
  expect(run.code).toBe(1);
  const { run_id: id, results } = JSON.parse(run.stdout);
  expect(results.map(({ status }: { status: string }) => status)).toEqual([
    'fail',
    'fail',
    'fail',
    'fail',
    'warn',
  ]);

  // The stored verdict was based on the unmasked text.
  const saved = await cli(['save', '--version', 'v1'], { cwd, env });
  expect(saved).toMatchObject({ code: 1 });
  expect(saved.stdout).not.toMatch(/\/(?:one|two|three|four)\.json/);
  for (const args of [
    ['eval', '--run', id],
    ['eval', '--run', id, '--strict'],
    ['test', '--traces', `.agentci/runs/${id}/traces`],
  ]) {
    const again = await cli([...args, '-f', 'json'], { cwd, env });
    const statuses = JSON.parse(again.stdout).results.map(
      ({ status }: { status: string }) => status,
    );
    expect(statuses.slice(0, 4)).toEqual(['error', 'error', 'error', 'error']);
    expect(again.stdout).toContain('the arguments of call 1 (t) were not captured');
    expect(again.code).toBe(2);
    expect(again.stdout).toContain('stored without its secrets (ACME_TOKEN)');
  }
  const traces = [
    'save',
    '--version',
    'v2',
    '--trace-file',
    `.agentci/runs/${id}/traces`,
    '--query',
    'one',
  ];
  const undecided = await cli(traces, { cwd, env });
  expect(undecided.code).toBe(2);
  expect(undecided.stderr).toContain('run the agent again with --query');
}, 60_000);

test('a check that needs a masked secret cannot be decided, for any kind of check', async () => {
  const checks = {
    'code on the answer': 'correctness: {code: "./checks.mjs#answer"}',
    'code on the trace': 'correctness: {code: "./checks.mjs#whole"}',
    'a command': 'correctness: {code: {command: [node, command.mjs]}}',
    'a metric': 'metrics: {keyless: {min: 1, severity: fail}}',
    'expr on a result': `path: {severity: fail, expr: 'calls.all(c, !string(c.result).contains("sk-"))'}`,
    'expr on an error': `path: {severity: fail, expr: 'calls.all(c, !string(c.error).contains("sk-"))'}`,
    'expr on metadata': `correctness: {expr: '!string(trace.metadata.note).contains("sk-")'}`,
  };
  const queries = Object.entries(checks).map(
    ([query, check]) => `  - {query: ${query}, ${check}}\n`,
  );
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: shop\nrunner: {module: ./agent.mjs}\nuse: [./checks.mjs]\nqueries:\n${queries.join('')}`,
    'agent.mjs': `const key = process.env.SHOP_API_KEY;
const tool_calls = [{ name: 'fetch', args: {}, result: 'key=' + key }, { name: 'send', args: {}, result: '', error: 'no ' + key }];
export default () => ({ answer: 'it is ' + key, tool_calls, metadata: { note: key } });\n`,
    'checks.mjs': `export const answer = ({ answer }) => !answer?.includes('sk-');
export const whole = ({ trace }) => !JSON.stringify(trace).includes('sk-');
const evaluate = ({ trace }) => ({ value: JSON.stringify(trace).includes('sk-') ? 0 : 1, detail: {} });
export const keyless = { name: 'keyless', layer: 'correctness', summary: 'no key anywhere', evaluate };\n`,
    'command.mjs': `let text = '';
for await (const chunk of process.stdin) text += chunk;
console.log(!text.includes('sk-'));\n`,
  });
  const env = { SHOP_API_KEY: 'sk-abcdef1234567890' };
  const statusesOf = async (...args: string[]) => {
    const { code, stdout } = await cli([...args, '--json'], { cwd, env });
    const { results } = JSON.parse(stdout) as { results: { query: string; status: string }[] };
    return {
      code,
      statuses: Object.fromEntries(results.map(({ query, status }) => [query, status])),
    };
  };
  const all = (status: string) =>
    Object.fromEntries(Object.keys(checks).map((query) => [query, status]));
  expect(await statusesOf('test')).toEqual({ code: 1, statuses: all('fail') });
  expect(await statusesOf('eval', '--run', 'latest')).toEqual({ code: 2, statuses: all('error') });
}, 60_000);

test('a judge is not asked about steps that a secret was taken out of', async () => {
  const server = await scriptedModel([{ text: verdictText(5) }, { text: verdictText(5) }]);
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: shop
runner: {module: ./agent.mjs}
judge_config: {model: "openai:gpt-4o-mini", base_url: "${server.url}", api_key_env: JUDGE_KEY_OF_THE_TEST, cache: false}
queries: [{query: one, correctness: {llm_judge: [{template: task_completion}]}}]
`,
    'agent.mjs': `export default () => ({ answer: 'done', tool_calls: [{ name: 'fetch', args: {}, result: process.env.SHOP_API_KEY }] });\n`,
  });
  const env = { JUDGE_KEY_OF_THE_TEST: 'sk-of-the-test', SHOP_API_KEY: 'sk-abcdef1234567890' };
  expect((await cli(['test'], { cwd, env })).code).toBe(0);
  const again = await cli(['eval', '--run', 'latest', '--json'], { cwd, env });
  expect([again.code, again.stdout]).toEqual([
    2,
    expect.stringContaining('SHOP_API_KEY was taken out of the stored trace'),
  ]);
}, 60_000);

test('a run that passed is saved by its verdict, though its trace was masked since', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml': TALKER_SPEC.replace('[Zx9-qkTtm4]', '[sorry]'),
    'agent.cjs': TALKER,
  });
  const env = { ACME_TOKEN: 'Zx9-qkTtm4pLw82vbnRy' };
  await cli(['test', '-q', 'one'], { cwd, env });
  await cli(['test'], { cwd, env });
  const saved = await cli(['save', '--version', 'v1'], { cwd, env });
  expect(saved.stdout).toContain('one.json (precheck passed');
  expect(
    filesUnder(join(cwd, 'baselines')).some((path) => readFileSync(path, 'utf8').includes('Zx9-')),
  ).toBe(false);
}, 60_000);

const WEATHER = `agent: support
runner: {command: [${process.execPath}, agent.cjs]}
queries:
  - {id: weather, query: weather today, correctness: {expected_in_answer: [weather]}, path: {expected_tools: [weather], forbidden_tools: [rm], match_mode: strict}}
  - {id: passed, query: passed today, correctness: {expected_in_answer: [weather]}}
`;
const WEATHER_AGENT = `
console.log(JSON.stringify({
  answer: 'the weather is fine, correctness and results and support and status',
  tool_calls: [{ name: 'weather', args: { passed: 'weather', results: 1 } }],
}));`;

/** Removes the parts of a report that differ between runs. */
const bare = (text: string): unknown =>
  JSON.parse(text, (key, value) =>
    /^(?:run_id|started_at|duration_ms|latency_ms|hash)$/.test(key) ? null : value,
  );
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
};

test.each(['support', 'weather', 'passed', 'correctness', 'results', 'status', 'function'])(
  'a password that is the word "%s" changes no key, id, name or status, and every command still works',
  async (word) => {
    const cwd = tempDir({ 'agentci_spec.yaml': WEATHER, 'agent.cjs': WEATHER_AGENT });
    const plain = await cli(['test', '-f', 'json'], { cwd, env: { NO_SECRETS: '' } });
    const env = { DB_PASSWORD: word };
    const masked = await cli(['test', '-f', 'json', '-f', 'html=r.html', '-f', 'junit=r.xml'], {
      cwd,
      env,
    });
    expect(masked.code).toBe(plain.code);
    const [before, after] = [bare(plain.stdout), bare(masked.stdout)] as {
      results: Record<string, unknown>[];
    }[];
    const withoutWarnings = ({ warnings: _, ...result }: Record<string, unknown>) => result;
    expect(after!.results.map(withoutWarnings).map(shapeOf)).toEqual(
      before!.results.map(withoutWarnings).map(shapeOf),
    );
    expect(after!.results.map(({ id, status }) => [id, status])).toEqual([
      ['weather', 'pass'],
      ['passed', 'pass'],
    ]);
    const { run_id: id } = JSON.parse(masked.stdout);
    for (const args of [
      ['report', '--run', id],
      ['report', '--run', id, '-f', 'json'],
      ['save', '--version', 'v1'],
      ['baselines'],
      ['test'],
    ]) {
      const { code, stdout, stderr } = await cli(args, { cwd, env });
      expect(`${args.join(' ')}: ${code} ${stderr}`).toMatch(/: 0 /);
      expect(stdout + stderr).not.toMatch(/^\s+at |TypeError/m);
    }
    const failed = await cli(['test', '--failed'], { cwd, env });
    expect(failed.stderr).not.toMatch(/TypeError|no previous run/i);
  },
  120_000,
);
