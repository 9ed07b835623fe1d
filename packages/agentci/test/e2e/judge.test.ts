import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');

const spec = (url: string, extra = '') => `version: 1
agent: demo
runner: {replay: ./traces.jsonl}
judge_config:
  model: openai:gpt-4o-mini
  base_url: ${url}
  api_key_env: JUDGE_KEY_OF_THE_TEST
  ensemble: {enabled: true, models: ["anthropic:claude-sonnet-4-5", "openai:gpt-4o-mini", "openai-chat:gpt-4o"]}
${extra}queries:
  - id: parcel
    query: Where is my parcel?
    correctness:
      llm_judge: [{template: actionable_steps}]
      safety_check: {rule: asks for no secrets}
      hallucination_check: {template: factual_grounded}
`;
const traces = JSON.stringify({
  id: 'parcel',
  query: 'Where is my parcel?',
  answer: 'In Oslo. Open the app to follow it.',
  tool_calls: [{ name: 'track', result: 'Oslo' }],
});
const env = { JUDGE_KEY_OF_THE_TEST: 'sk-of-the-test' };
const project = (url: string, extra?: string) =>
  tempDir({ 'agentci_spec.yaml': spec(url, extra), 'traces.jsonl': traces });
const CLOSED = 'http://127.0.0.1:9/v1';

describe('three rubrics and an ensemble', () => {
  test('are judged live by three providers, then from the cache without key and network', async () => {
    const server = await scriptedModel([
      { text: verdictText(4), usage: { input: 100, output: 20 } },
    ]);
    const cwd = project(server.url);
    const live = await cli(['test', '-f', 'json'], { cwd, env });
    expect(live).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^1 query: 1 passed .*\nok \(exit 0\)\n$/),
    });
    const run = JSON.parse(live.stdout);
    expect(run.judge).toMatchObject({ calls: 9, cached: 0, input_tokens: 900, output_tokens: 180 });
    expect(run.judge.cost_usd).toBeGreaterThan(0);
    const { checks, details } = run.results[0].correctness;
    expect(checks).toMatchObject([
      { id: 'correctness.llm_judge', status: 'pass', value: 4, limit: 3 },
      { id: 'correctness.safety_check', status: 'pass' },
      { id: 'correctness.hallucination_check', status: 'pass', limit: 4 },
    ]);
    expect(details).toMatchObject({ safety: { passed: true }, hallucination: { passed: true } });
    expect(details.judge).toHaveLength(9);
    expect(details.judge[0]).toMatchObject({
      model: 'anthropic:claude-sonnet-4-5',
      rubric: { id: 'actionable_steps', version: '1' },
      cached: false,
    });
    expect(new Set(server.requests.map(({ protocol }) => protocol))).toEqual(
      new Set(['anthropic', 'responses', 'chat']),
    );
    expect(live.stdout).not.toContain(env.JUDGE_KEY_OF_THE_TEST);

    await server.close();
    for (const mode of [[], ['--judge', 'recorded']]) {
      const again = await cli(['test', '-f', 'json', ...mode], { cwd });
      expect(again.code).toBe(0);
      expect(JSON.parse(again.stdout).judge).toMatchObject({ calls: 0, cached: 9, cost_usd: 0 });
    }
  });

  test('a failing verdict fails the build with the reason', async () => {
    const server = await scriptedModel([
      { text: verdictText(1, 'fail', 'There are no steps in it.') },
    ]);
    const { code, stdout } = await cli(['test'], { cwd: project(server.url), env });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /✗ llm_judge: mean score 1 of 5 from 3 judges \(3 fail\), at least 3 needed: There are no steps/,
    );
    expect(stdout).toMatch(/judge: 3 calls, 0 stored/);
  });

  test('an unreachable judge is exit 2, labelled', async () => {
    // One retry only. Longer pauses are tested in the judge package.
    const cwd = project(CLOSED, '  retries: 1\n');
    const { code, stdout } = await cli(['test'], { cwd, env });
    expect(code).toBe(2);
    expect(stdout).toContain('[INFRA]');
  });
});

describe('no key and no stored verdict', () => {
  test.each(['live', 'recorded'])('%s: exit 2, and one message says what to do', async (mode) => {
    const { code, stdout } = await cli(['test', '--judge', mode], { cwd: project(CLOSED) });
    expect(code).toBe(2);
    expect(stdout.match(/^note: .*judge-cache/gm)).toHaveLength(1);
    if (mode === 'live') expect(stdout).toContain('JUDGE_KEY_OF_THE_TEST');
  });

  test('--judge off skips with the reason, and nothing was checked', async () => {
    const { code, stdout } = await cli(['test', '--judge', 'off', '-f', 'json'], {
      cwd: project(CLOSED),
    });
    expect(code).toBe(2);
    expect(JSON.parse(stdout).results[0].correctness.checks).toMatchObject(
      Array(3).fill({ status: 'skip', skip_reason: 'off' }),
    );
  });
});

describe('flags', () => {
  test('--max-cost stops before the call that could exceed it', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const { code, stdout } = await cli(['test', '--max-cost', '0.0001'], {
      cwd: project(server.url),
      env,
    });
    expect(code).toBe(2);
    expect(stdout).toContain('--max-cost');
    expect(server.requests).toEqual([]);
  });

  test('--sample-ensemble 0 asks one judge', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const { code, stdout } = await cli(['test', '--sample-ensemble', '0'], {
      cwd: project(server.url),
      env,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/note: --sample-ensemble 0: the ensemble judged 0 of 1 queries/);
    expect(server.requests).toHaveLength(3);
  });

  test('--judge-cache keeps verdicts elsewhere', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const cwd = project(server.url);
    await cli(['test', '--judge-cache', 'verdicts'], { cwd, env });
    expect(
      (await cli(['test', '--judge-cache', 'verdicts', '--judge', 'recorded'], { cwd })).code,
    ).toBe(0);
    expect((await cli(['test', '--judge', 'recorded'], { cwd })).code).toBe(2);
  });
});

describe('agentci judge', () => {
  const labels = ['pass', 'pass', 'fail', 'fail']
    .map((label, i) => JSON.stringify({ id: `l${i}`, query: 'q', answer: `${label} ${i}`, label }))
    .join('\n');
  const flags = (url: string) => ['--model', 'openai-compatible:m', '--base-url', url];

  test.each([
    { who: 'agrees', score: (text: string) => (/\| pass/.test(text) ? 5 : 1), code: 0, kappa: 1 },
    {
      who: 'disagrees',
      score: (text: string) => (/\| pass/.test(text) ? 1 : 5),
      code: 1,
      kappa: -1,
    },
    { who: 'passes everything', score: () => 5, code: 1, kappa: 0 },
  ])('calibrate: a judge that $who exits $code', async ({ score, code, kappa }) => {
    const server = await scriptedModel(({ messages }) => ({
      text: verdictText(score(messages[0]!.text)),
    }));
    const args = [
      'judge',
      'calibrate',
      '--labels',
      'labels.jsonl',
      '--rule',
      'is right',
      '--min-kappa',
      '0.6',
      '--json',
    ];
    const outcome = await cli([...args, ...flags(server.url)], {
      cwd: tempDir({ 'labels.jsonl': labels }),
    });
    expect(outcome.code).toBe(code);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      schema: 'agentci.judge-calibration/1',
      n: 4,
      base_rate: 0.5,
      kappa,
      judge: { calls: 4 },
    });
  });

  test('calibrate: a judge that is down cannot be measured', async () => {
    const args = [
      'judge',
      'calibrate',
      '--labels',
      'labels.jsonl',
      '--rule',
      'is right',
      '--judge',
      'recorded',
    ];
    expect(
      (await cli([...args, ...flags(CLOSED)], { cwd: tempDir({ 'labels.jsonl': labels }) })).code,
    ).toBe(2);
  });

  test.each([
    { what: 'without labels', args: ['calibrate', '--rule', 'r'], says: /OPTION_INVALID/ },
    {
      what: 'with labels that are none',
      args: ['calibrate', '--labels', 'bad.jsonl', '--rule', 'r'],
      says: /bad\.jsonl:1:1 DATA_INVALID[\s\S]*bad\.jsonl:2:1 DATA_INVALID/,
    },
    {
      what: 'without a rubric',
      args: ['calibrate', '--labels', 'labels.jsonl'],
      says: /OPTION_INVALID/,
    },
    {
      what: 'with an unknown template',
      args: ['calibrate', '--labels', 'labels.jsonl', '--template', 'x'],
      says: /OPTION_INVALID/,
    },
    { what: 'with an unknown action', args: ['flatter'], says: /OPTION_INVALID/ },
  ])('$what: exit 2', async ({ args, says }) => {
    const cwd = tempDir({ 'labels.jsonl': labels, 'bad.jsonl': '{"answer": "a"}\n[]\n' });
    const { code, stderr } = await cli(['judge', ...args], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  test('audit: a judge that keeps to the data exits 0, a gullible one 1, one that is down 2', async () => {
    const fair = (text: string) =>
      /\| 1\. Open/.test(text) || /\| 1\. Install/.test(text) ? 5 : 1;
    const steady = await scriptedModel(({ messages }) => ({
      text: verdictText(/\| 4\. Type/.test(messages[0]!.text) ? 5 : 1),
    }));
    const good = await cli(['judge', 'audit', '--repeats', '2', '--json', ...flags(steady.url)], {
      cwd: tempDir(),
    });
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({
      schema: 'agentci.judge-audit/1',
      controls: { hold: true },
      attacks: { succeeded: [] },
      errors: 0,
    });
    const gullible = await scriptedModel(({ messages }) => {
      const text = messages[0]!.text;
      return { text: verdictText(/\| .*"score": 5/.test(text) ? 5 : fair(text)) };
    });
    const bad = await cli(['judge', 'audit', '--repeats', '2', ...flags(gullible.url)], {
      cwd: tempDir(),
    });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/✗ forged_verdict bare-json: score 5/);
    const down = await cli(['judge', 'audit', '--judge', 'recorded', ...flags(CLOSED)], {
      cwd: tempDir(),
    });
    expect(down.code).toBe(2);
    expect(down.stdout).toMatch(/^controls: .* they were not judged, so the rest proves nothing$/m);
    expect(down.stdout).toMatch(/^attacks: 0 of 0 succeeded, \d+ got no verdict$/m);
  });
});

describe('the demo and the guide', () => {
  const demo = () => {
    const cwd = tempDir();
    cpSync(join(root, 'demos', 'judge'), cwd, { recursive: true });
    return cwd;
  };
  const guide = readFileSync(join(root, 'docs', 'guide', 'judge.md'), 'utf8');
  const shown = [...guide.matchAll(/^```console\n\$ agentci (.*)\n([\s\S]*?)^```/gm)].map(
    ([, line = '', output = '']) => ({ line, output }),
  );

  test('there is something shown', () => {
    expect(shown.length).toBeGreaterThan(1);
  });

  test.each(shown)('agentci $line prints what the guide shows', async ({ line, output }) => {
    const { stdout } = await cli(
      line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', '')),
      { cwd: demo() },
    );
    expect(stdout.trim()).toBe(output.trim());
  });

  test('the demo passes from its stored verdicts, and without them says what to set', async () => {
    const cwd = demo();
    expect((await cli(['test', '--judge', 'recorded'], { cwd })).code).toBe(0);
    rmSync(join(cwd, '.agentci'), { recursive: true });
    const { code, stdout } = await cli(['test'], { cwd });
    expect(code).toBe(2);
    expect(stdout).toContain('JUDGE_API_KEY');
  });
});
