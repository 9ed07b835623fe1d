import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmEnv } from '@agentci/testing/npm';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';

const packageDir = join(fileURLToPath(import.meta.url), '..', '..');

function* filesIn(dir: string): Generator<string> {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(modules, name)).map((child) => `${name}/${child}`)
        : [name],
    );
}

test('the published package installs small, without scripts or optional parts, and works', {
  timeout: 120_000,
}, () => {
  const dir = tempDir({ 'package.json': { name: 'scratch', private: true, type: 'module' } });
  const npm = (args: string[], cwd: string) =>
    execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd,
      encoding: 'utf8',
      env: npmEnv(),
    });
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', dir], packageDir)) as {
    filename: string;
  }[];
  npm(
    [
      'install',
      '--omit=optional',
      '--ignore-scripts',
      join(dir, packed!.filename.replace('/', '-').replace('@', '')),
    ],
    dir,
  );

  const modules = join(dir, 'node_modules');
  const bytes = [...filesIn(modules)].reduce((sum, file) => sum + statSync(file).size, 0);
  expect(packagesIn(modules).length).toBeLessThanOrEqual(20);
  expect(bytes).toBeLessThanOrEqual(15 * 1024 * 1024);

  // Bundled code is listed with its license: libraries, SDKs and the dependencies of the report
  // page.
  const notices = readFileSync(join(modules, '@agentci', 'agentci', 'THIRD_PARTY_NOTICES'), 'utf8');
  for (const name of [
    'ai',
    'commander',
    'js-yaml',
    'preact',
    'uplot',
    'zod',
    '@ai-sdk/anthropic',
    'fflate',
  ])
    expect(notices).toMatch(new RegExp(`^={80}\\n${name} \\d+\\.\\d+\\.\\d+\\nLicense: \\S+`, 'm'));
  expect(notices).toContain('Permission is hereby granted');
  expect(notices).not.toMatch(/^License: (?:GPL|AGPL|UNLICENSED)/m);

  const readme = readFileSync(join(modules, '@agentci', 'agentci', 'README.md'), 'utf8');
  expect(readme).toContain('# AgentCI');
  // The package has no docs folder, so relative links would be broken.
  expect(readme).not.toMatch(/\]\((?!https?:|#)/);

  const bin = join(modules, '.bin', 'agentci');
  const version = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'))
    .version as string;
  expect(execFileSync(bin, ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`);

  mkdirSync(join(dir, 'suite'));
  writeFileSync(
    join(dir, 'suite', 'agent.ts'),
    'export default (query: string): unknown => query.startsWith("{") ? { answer: query, llm_calls: [{ model: "gpt-4o-mini", input_tokens: 10, output_tokens: 2 }] } : `echo ${query}`;\n',
  );
  writeFileSync(
    join(dir, 'suite', 'agentci_spec.yaml'),
    `version: 1
agent: demo
runner: {module: ./agent.ts}
queries:
  - query: hello
    correctness:
      expected_in_answer: [echo hello]
      regex_match: '^(?=.*echo).*(h(e|l)+)+o$'
  - query: '{"a": 1}'
    correctness: {json_schema: {type: object, required: [a]}}
    cost: {max_cost_usd: 1}
`,
  );
  expect(execFileSync(bin, ['test'], { cwd: join(dir, 'suite'), encoding: 'utf8' })).toContain(
    '2 passed',
  );

  // Optional packages are not installed here, so the error for users without them appears.
  writeFileSync(
    join(dir, 'suite', 'picture.yaml'),
    'version: 1\nagent: demo\nrunner: {module: ./agent.ts}\nqueries: [{id: q, query: red, metadata: {image_path: x.png}, correctness: {expected_in_answer: [red]}, metrics: [cross_modal_grounding]}]\n',
  );
  const picture = JSON.parse(
    execFileSync(bin, ['test', '-c', 'picture.yaml', '-f', 'json'], {
      cwd: join(dir, 'suite'),
      encoding: 'utf8',
    }),
  );
  expect(picture.results[0].metrics.cross_modal_grounding).toMatchObject({
    value: null,
    detail: { reason: expect.stringContaining('npm install @huggingface/transformers') },
  });

  const script =
    'import { toolRecall, loadSpec } from "@agentci/agentci"; console.log(toolRecall(["a","b"], ["a"]), typeof loadSpec)';
  expect(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: dir,
      encoding: 'utf8',
    }),
  ).toBe('0.5 function\n');

  // Types as a consumer sees them: every entry point, strict, with the declarations checked too.
  const root = join(packageDir, '..', '..', 'node_modules');
  mkdirSync(join(modules, '@types'), { recursive: true });
  for (const name of ['vitest', '@types/node']) symlinkSync(join(root, name), join(modules, name));
  writeFileSync(join(dir, 'consumer.ts'), CONSUMER);
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
  ];
  const { status, stdout } = spawnSync(join(root, '.bin', 'tsc'), [...flags, 'consumer.ts'], {
    cwd: dir,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

/** Each line with an expected error fails to compile if an entry point's types decay to `any`. */
const CONSUMER = `
import { exitCode, loadSpec, parsePolicy, readTraces, runSuite, toolNames } from '@agentci/agentci';
import { describeSpec as describeInNode } from '@agentci/agentci/node-test';
import { wilsonInterval } from '@agentci/agentci/stats';
import { describeSpec } from '@agentci/agentci/vitest';

const { suite } = await loadSpec('agentci_spec.yaml');
const agent: string = suite!.agent;
// @ts-expect-error the agent's name is text
const wrongAgent: number = suite!.agent;
const run = await runSuite({ suite: suite!, traces: 'traces.jsonl' });
const code: number = exitCode(run);
// @ts-expect-error a status is one of five words
const wrongStatus: 'green' = run.results[0]!.status;
for await (const trace of readTraces('traces.jsonl')) {
  const names: string[] = toolNames(trace);
  // @ts-expect-error steps have kinds
  trace.steps[0]!.kind = 'nothing';
  console.log(names);
}
const low: number | undefined = wilsonInterval(1, 2)?.low;
// @ts-expect-error successes are a number
wilsonInterval('1', 2);
// @ts-expect-error a spec is named by its path
describeSpec(7);
// @ts-expect-error a spec is named by its path
describeInNode(7);
// @ts-expect-error a policy is text
parsePolicy(7);
console.log(agent, wrongAgent, code, wrongStatus, low);
`;
