import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';
import { scriptedModel, verdictText } from '../support/scripted-judge.ts';
import { tempDir } from '../support/temp-dir.ts';

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

/** Every file below a folder that shows one of the secrets. */
const leaking = (dir: string): string[] =>
  filesUnder(dir).filter((path) => FORMS.some((form) => readFileSync(path, 'utf8').includes(form)));

const shows = (...texts: string[]): string[] => FORMS.filter((form) => texts.some((text) => text.includes(form)));

test('no secret is shown or stored, whoever repeats it', async () => {
  const judge = await scriptedModel(() => ({ text: verdictText(5, 'pass', `it said ${KEY}`) }));
  const server = createServer((request, response) => {
    const key = String(request.headers['x-custom']);
    if (request.url === '/fails') response.writeHead(400).end(`bad key ${key} ${encodeURIComponent(key)}`);
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
  const formats = ['json', 'junit', 'sarif', 'prometheus', 'markdown', 'csv', 'html', 'console', 'github'];
  const reports = formats.filter((name) => name !== 'console').flatMap((name) => ['-f', `${name}=out/${name}`]);
  const { code, stdout, stderr } = await cli(['test', '-f', 'console', ...reports], { cwd, env });
  expect(shows(stdout, stderr)).toEqual([]);
  expect(leaking(cwd)).toEqual([]);
  expect(stdout).toContain('[UNSUSPICIOUS]');
  // The check saw what the agent really said.
  const { results } = JSON.parse(readFileSync(join(cwd, 'out/json'), 'utf8'));
  expect(results.map(({ status }: { status: string }) => status)).toEqual(['pass', 'fail', 'error']);
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
    'agent.cjs': 'console.error("using", process.env.GITHUB_TOKEN); throw new Error(process.env.OTHER_SECRET);',
  });
  const { code, stdout, stderr } = await cli(['test', '-o', 'r.json'], { cwd, env: { GITHUB_TOKEN: TOKEN } });
  expect(code).toBe(2);
  expect(shows(stdout, stderr)).toEqual([]);
  expect(readFileSync(join(cwd, 'r.json'), 'utf8')).toContain('using [GITHUB_TOKEN]');
  // The spec itself is the user's own.
  expect(leaking(cwd).filter((path) => !path.endsWith('agentci_spec.yaml'))).toEqual([]);
});

test('what looks like a key is masked in a saved baseline unless it is asked to stay', async () => {
  const files = {
    'agentci_spec.yaml': 'agent: demo\nqueries: [{id: q, query: q, correctness: {expected_in_answer: [ok]}}]\n',
    't.json': JSON.stringify({
      id: 'q',
      query: 'q',
      answer: 'ok, write to a@example.com',
      tool_calls: [{ name: 'login', args: { password: 'hunter2hunter2', url: 'https://u:hunter2hunter2@x.example' } }],
    }),
  };
  const saved = async (...extra: string[]) => {
    const cwd = tempDir(files);
    expect((await cli(['save', '--version', 'v1', '--trace-file', 't.json', ...extra], { cwd })).code).toBe(0);
    return readFileSync(filesUnder(join(cwd, 'baselines'))[0]!, 'utf8');
  };
  const masked = await saved();
  expect(masked).not.toContain('hunter2');
  expect(masked).toContain('a@example.com');
  expect(await saved('--no-redact')).toContain('hunter2');
});
