import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const QUESTION = "What's the weather in Tokyo?";
const spec = `version: 1
agent: rag-agent
queries:
  - id: weather
    query: ${QUESTION}
    correctness:
      not_in_answer: [degrees, sunny]
    path:
      max_tool_calls: 0
    cost:
      max_llm_calls: 2
      max_total_tokens: 500
`;
const WAY = [
  'retriever',
  'retriever',
  'web',
  'web',
  'retriever',
  'grade',
  'grade',
  'rewrite',
  'web',
  'retriever',
  'answer',
];
const broken = {
  query: QUESTION,
  answer: 'I looked everywhere and could not find it.',
  tool_calls: WAY.map((name, i) => ({ name, args: { try: i } })),
  llm_calls: Array.from({ length: 11 }, () => ({ model: 'gpt-4o-mini' })),
  cost_usd: 0.008,
  total_tokens: 4200,
  latency_ms: 8200,
};
const fixed = {
  query: QUESTION,
  answer: 'That is outside what I can help with.',
  tool_calls: [],
  llm_calls: [{ model: 'gpt-4o-mini' }],
  cost_usd: 0.0001,
  total_tokens: 180,
  latency_ms: 1100,
};
const wrong = { ...fixed, answer: 'Sunny, 20 degrees.\n::error::forged' };
const project = (files: Record<string, string | object> = {}) =>
  tempDir({
    'agentci_spec.yaml': spec,
    'broken.json': broken,
    'fixed.json': fixed,
    'wrong.json': wrong,
    ...files,
  });
const baseline = (cwd: string, version: string) =>
  JSON.parse(readFileSync(join(cwd, 'baselines/rag-agent', version, 'weather.json'), 'utf8'));

describe('from eleven tool calls to none', () => {
  test('run, save, fix, run, save, and see the improvement', async () => {
    const cwd = project();
    const run = async (...args: string[]) => {
      const { code, stdout } = await cli(args, { cwd });
      return { code, stdout };
    };
    expect(await run('test', '--traces', 'broken.json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 warned'),
    });
    expect(
      await run('save', '--agent', 'rag-agent', '--version', 'v1-broken', '--force-save'),
    ).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('forced'),
    });
    // The fixed run is not compared with the broken one, so nothing warns.
    expect(await run('test', '--traces', 'fixed.json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 passed'),
    });
    expect(await run('save', '--version', 'v2-fixed')).toMatchObject({ code: 0 });

    const { code, stdout } = await run('diff', '--baseline', 'v1-broken', '--compare', 'v2-fixed');
    expect(code).toBe(0);
    for (const line of [
      'AgentCI Diff: rag-agent (v1-broken → v2-fixed)',
      'Correctness: Unchanged (PASS → PASS)',
      'Tool calls:        11 → 0  (▼ 100%)',
      'Tool recall:       1.00 → 1.00  (unchanged)',
      'Sequence LCS:      0.00 → 1.00',
      'Loops detected:    3 → 0',
      'Total cost:        $0.0080 → $0.0001  (▼ 98.8%)',
      'Total tokens:      4,200 → 180  (▼ 95.7%)',
      'LLM calls:         11 → 1  (▼ 90.9%)',
      'Latency:           8,200ms → 1,100ms  (▼ 86.6%)',
    ]) {
      expect(stdout).toContain(line);
    }
  });

  test('going back is not a regression by itself, but is with a limit', async () => {
    const cwd = project();
    await cli(['save', '--version', 'v1', '--trace-file', 'fixed.json'], { cwd });
    await cli(['save', '--version', 'v2', '--trace-file', 'broken.json'], { cwd });
    const diff = ['diff', '--baseline', 'v1', '--compare', 'v2'];
    expect((await cli(diff, { cwd })).code).toBe(0);
    const { code, stdout } = await cli([...diff, '--max-regression', '20%', '--format', 'json'], {
      cwd,
    });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'agentci.diff/1',
      max_regression_percent: 20,
      queries: [
        {
          id: 'weather',
          diff_types: [
            'output_changed',
            'tools_changed',
            'cost_changed',
            'steps_changed',
            'latency_changed',
          ],
          regressions: [
            { metric: 'tool_calls', reason: 'zero_baseline' },
            { metric: 'cost_usd' },
            { metric: 'total_tokens' },
            { metric: 'latency_ms' },
          ],
        },
      ],
      summary: { compared: 1, changed: 1, regressions: 4, exit_code: 1 },
    });
  });
});

describe('one rule for locations: next to the spec', () => {
  test('from another folder runs, verdicts and baselines are found by -c alone', async () => {
    const cwd = tempDir({
      'team/bot/agentci_spec.yaml': spec,
      'fixed.json': fixed,
      'broken.json': broken,
    });
    const c = ['-c', 'team/bot/agentci_spec.yaml'];
    const run = async (...args: string[]) => (await cli(args, { cwd })).code;
    expect(await run('test', ...c, '--traces', 'broken.json')).toBe(0);
    expect(await run('test', ...c, '--traces', 'fixed.json')).toBe(0);
    expect(existsSync(join(cwd, '.agentci'))).toBe(false);
    const runs = readdirSync(join(cwd, 'team/bot/.agentci/runs')).sort();
    expect(runs).toHaveLength(2);
    expect(await run('save', ...c, '--version', 'v1')).toBe(0);
    expect(existsSync(join(cwd, 'team/bot/baselines/rag-agent/v1/weather.json'))).toBe(true);
    expect(await run('baselines', ...c)).toBe(0);
    expect(await run('report', ...c)).toBe(0);
    expect(await run('export-metrics', ...c)).toBe(0);
    expect(await run('eval', ...c, '--run', runs[0]!)).toBe(0);
    expect(await run('diff', ...c, '--baseline-run', runs[0]!)).toBe(0);
    expect(await run('diff', ...c, '--baseline', 'v1', '--compare', 'v1')).toBe(0);
    // From a subfolder, the same files are meant.
    const inside = { cwd: join(cwd, 'team/bot') };
    expect((await cli(['report'], inside)).code).toBe(0);
    expect((await cli(['save', '--version', 'v2'], inside)).code).toBe(0);
    // Paths on the command line are relative to the working directory.
    expect(await run('save', ...c, '--version', 'v1', '--baseline-dir', 'mine')).toBe(0);
    expect(existsSync(join(cwd, 'mine/rag-agent/v1/weather.json'))).toBe(true);
    const lost = await cli(['report'], { cwd });
    expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining('-c names the spec') });
  });
});

describe('a file in the way', () => {
  const stray = {
    'baselines/rag-agent/v0/weather.json': '{"version": "v0"',
    'baselines/rag-agent/notes.json': '[]',
  };
  test.each([
    {
      what: 'a run that names another version continues and reports it',
      args: ['--baseline', 'v1'],
      code: 0,
    },
    { what: 'one that names that version stops', args: ['--baseline', 'v0'], code: 2 },
    { what: 'one that names none stops, since it may be the newest', args: [], code: 2 },
  ])('$what', async ({ args, code }) => {
    const cwd = project(stray);
    expect(
      (await cli(['save', '--version', 'v1', '--trace-file', 'fixed.json'], { cwd })).code,
    ).toBe(0);
    const found = await cli(['test', '--traces', 'fixed.json', ...args], { cwd });
    expect(found.code).toBe(code);
    expect(found.stdout + found.stderr).toMatch(/(v0.weather|notes)\.json is not /);
  });

  test('diff and baselines go on too', async () => {
    const cwd = project(stray);
    for (const version of ['v1', 'v2'])
      await cli(['save', '--version', version, '--trace-file', 'fixed.json'], { cwd });
    expect((await cli(['diff', '--baseline', 'v1', '--compare', 'v2'], { cwd })).code).toBe(0);
    expect((await cli(['diff', '--baseline', 'v0', '--compare', 'v2'], { cwd })).code).toBe(2);
    const list = await cli(['baselines'], { cwd });
    expect(list).toMatchObject({ code: 2, stdout: expect.stringContaining('v2') });
    expect(list.stderr).toContain('BASELINE_UNREADABLE');
  });
});

describe('what got worse', () => {
  const forbidding = spec.replace('max_tool_calls: 0', 'forbidden_tools: [web]');
  test('a forbidden tool that is new is a regression, though the answer is right', async () => {
    const cwd = project({ 'agentci_spec.yaml': forbidding });
    await cli(['save', '--version', 'v1', '--trace-file', 'fixed.json'], { cwd });
    await cli(['save', '--version', 'v2', '--trace-file', 'broken.json', '--force-save'], { cwd });
    const there = await cli(['diff', '--baseline', 'v1', '--compare', 'v2'], { cwd });
    expect(there.stdout).toMatch(/path went from pass to fail \(path\.forbidden_tools\)/);
    expect(there).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 regression (exit 1)'),
    });
    expect((await cli(['diff', '--baseline', 'v2', '--compare', 'v1'], { cwd })).code).toBe(0);
  });

  test('so it is between two runs', async () => {
    const cwd = project({ 'agentci_spec.yaml': forbidding });
    await cli(['test', '--traces', 'fixed.json'], { cwd });
    await cli(['test', '--traces', 'broken.json'], { cwd });
    const [first, second] = readdirSync(join(cwd, '.agentci/runs')).sort() as [string, string];
    const there = await cli(['diff', '--baseline-run', first], { cwd });
    expect(there).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('weather: pass → fail'),
    });
    expect(there.stdout).toContain('1 regression');
    expect(
      (await cli(['diff', '--baseline-run', second, '--compare-run', first], { cwd })).code,
    ).toBe(0);
  });
});

describe('agentci save', () => {
  test('a trace that fails its checks is refused, and saved by force with the fact written down', async () => {
    const cwd = project();
    const save = ['save', '--version', 'v1', '--trace-file', 'wrong.json'];
    const refused = await cli(save, { cwd });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/correctness\.not_in_answer.*PRECHECK_FAILED.*--force-save/s);
    expect(existsSync(join(cwd, 'baselines'))).toBe(false);
    expect((await cli([...save, '--force-save'], { cwd })).code).toBe(0);
    expect(baseline(cwd, 'v1').metadata).toMatchObject({ precheck_passed: false, forced: true });
  });

  test('forcing what passes anyway is forced all the same, and such a baseline is used only when named', async () => {
    const cwd = project({
      'agentci_spec.yaml': spec.replace('max_tool_calls: 0', 'match_mode: strict'),
    });
    await cli(['save', '--version', 'v1', '--trace-file', 'broken.json', '--force-save'], { cwd });
    expect(baseline(cwd, 'v1').metadata).toMatchObject({ precheck_passed: false, forced: true });
    const compared = async (...args: string[]) => {
      const { stdout } = await cli(['test', '--traces', 'fixed.json', '-f', 'json', ...args], {
        cwd,
      });
      return JSON.parse(stdout).results[0].baseline?.version;
    };
    expect(await compared()).toBeUndefined();
    expect(await compared('--baseline', 'v1')).toBe('v1');
  });

  test('a rubric without a judge is not saved and exits 2 with a hint, unless forced', async () => {
    const rubric = spec.replace(
      'not_in_answer: [degrees, sunny]',
      'llm_judge: [{rule: declines politely}]',
    );
    const cwd = project({ 'agentci_spec.yaml': rubric });
    const save = ['save', '--version', 'v1', '--trace-file', 'fixed.json'];
    for (const mode of [[], ['--judge', 'off'], ['--judge', 'recorded']]) {
      const { code, stderr } = await cli([...save, ...mode], { cwd });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/PRECHECK_UNDECIDED.*--force-save/s),
      });
    }
    expect(existsSync(join(cwd, 'baselines'))).toBe(false);
    expect((await cli([...save, '--force-save'], { cwd })).code).toBe(0);
  });

  test('a run that used a forbidden tool is not saved', async () => {
    const cwd = project({
      'agentci_spec.yaml': spec.replace('max_tool_calls: 0', 'forbidden_tools: [web]'),
    });
    const { code, stderr } = await cli(['save', '--version', 'v1', '--trace-file', 'broken.json'], {
      cwd,
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/path\.forbidden_tools.*PRECHECK_FAILED/s),
    });
  });

  test('a query without checks is saved, and used only when named', async () => {
    const cwd = project({
      'agentci_spec.yaml': `version: 1\nagent: rag-agent\nqueries: [{id: weather, query: "${QUESTION}"}]\n`,
    });
    const { code, stdout } = await cli(['save', '--version', 'v1', '--trace-file', 'fixed.json'], {
      cwd,
    });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('used only when named'),
    });
    expect(baseline(cwd, 'v1').metadata).toMatchObject({ precheck_passed: null, forced: false });
  });

  test('a query of the run that errored is named as refused, with the reason', async () => {
    const two = `${spec}  - {id: broken, query: broken, correctness: {expected_in_answer: [ok]}}\nrunner: {module: agent.mjs}\n`;
    const agent = `export default (q) => { if (q === 'broken') throw new Error('no luck'); return 'Not my field.' }`;
    const cwd = project({ 'agentci_spec.yaml': two, 'agent.mjs': agent });
    await cli(['test'], { cwd });
    const { code, stdout, stderr } = await cli(['save', '--version', 'v1'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringContaining('weather.json') });
    expect(stderr).toMatch(/"broken" is not saved: .*no luck.*NO_TRACE/);
    const json = await cli(['save', '--version', 'v2', '--json'], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({
      saved: [{ query_id: 'weather' }],
      refused: [{ query_id: 'broken', code: 'NO_TRACE' }],
    });
  });

  test('a saved baseline is not replaced without being asked to', async () => {
    const cwd = project();
    await cli(['save', '--version', 'v1', '--trace-file', 'fixed.json'], { cwd });
    const before = baseline(cwd, 'v1');
    const again = await cli(
      ['save', '--version', 'v1', '--trace-file', 'broken.json', '--force-save'],
      { cwd },
    );
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('FILE_EXISTS') });
    expect(baseline(cwd, 'v1')).toEqual(before);
    expect(
      (
        await cli(['save', '--version', 'v1', '--trace-file', 'broken.json', '--overwrite'], {
          cwd,
        })
      ).code,
    ).toBe(0);
    expect(baseline(cwd, 'v1').trace.final.text).toBe(broken.answer);
  });

  test('runs the agent for a query that is named', async () => {
    const runner = `runner: {command: [${process.execPath}, -e, "console.log(process.env.REPLY)"]}\n`;
    const cwd = project({ 'agentci_spec.yaml': spec.replace('queries:', `${runner}queries:`) });
    const save = (REPLY: string) =>
      cli(['save', '--query', QUESTION, '--version', 'v1', '--json'], { cwd, env: { REPLY } });
    expect(await save('sunny')).toMatchObject({ code: 1 });
    const { code, stdout } = await save('I decline');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      saved: [{ query_id: 'weather', precheck_passed: true, forced: false }],
      refused: [],
    });
    expect(baseline(cwd, 'v1').trace.final.text).toBe('I decline');
  });

  test.each([
    { what: 'nothing was run yet', args: ['--version', 'v1'], says: /NO_PREVIOUS_RUN/ },
    { what: 'no version', args: [], says: /--version/ },
    {
      what: 'a version that leaves the folder',
      args: ['--version', '../x', '--trace-file', 'fixed.json'],
      says: /OPTION_INVALID/,
    },
    {
      what: 'a query that is not there',
      args: ['--version', 'v1', '--query', 'wether'],
      says: /OPTION_INVALID.*weather/s,
    },
    {
      what: 'another agent',
      args: ['--version', 'v1', '--agent', 'other'],
      says: /AGENT_MISMATCH/,
    },
    {
      what: 'recordings that do not exist',
      args: ['--version', 'v1', '--trace-file', 'nope.json'],
      says: /TRACES_MISSING/,
    },
    {
      what: 'two sources',
      args: ['--version', 'v1', '--trace-file', 'fixed.json', '--run', 'x'],
      says: /OPTIONS_CONFLICT/,
    },
    {
      what: 'a run that does not exist',
      args: ['--version', 'v1', '--run', 'x'],
      says: /RUN_MISSING/,
    },
  ])('$what is an error with a hint', async ({ args, says }) => {
    const { code, stderr } = await cli(['save', ...args], { cwd: project() });
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });
});

describe('agentci record and baselines', () => {
  const two = `version: 1
agent: helper
runner: {replay: ./traces.jsonl}
queries:
  - {id: a, query: first, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: second, correctness: {expected_in_answer: [ok]}}
`;
  const traces =
    '{"id":"a","query":"first","answer":"ok","model":"m-1"}\n{"id":"b","query":"second","answer":"no"}\n';

  test('each query is saved on its own: one that fails does not keep the others back', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': two, 'traces.jsonl': traces });
    const { code, stdout, stderr } = await cli(['record', '--version', 'v1'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('saved baselines/helper/v1/a.json');
    expect(stderr).toContain('PRECHECK_FAILED');
    expect(existsSync(join(cwd, 'baselines/helper/v1/b.json'))).toBe(false);
  });

  test('an agent is not run for baselines that could not be saved', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': two, 'traces.jsonl': traces });
    await cli(['record', '--version', 'v1', '--query', 'a'], { cwd });
    expect(await cli(['record', '--version', 'v1', '--query', 'a'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('FILE_EXISTS'),
    });
  });

  test('the list shows version, model, precheck and drift, and names a query that left the spec', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': two, 'traces.jsonl': traces });
    await cli(['record', '--version', 'v1', '--force-save'], { cwd });
    const list = async () =>
      JSON.parse((await cli(['baselines', '--json'], { cwd })).stdout).baselines;
    expect(await list()).toMatchObject([
      {
        agent: 'helper',
        version: 'v1',
        queries: ['a', 'b'],
        models: ['m-1'],
        age_days: 0,
        precheck: 'forced',
        spec: 'same',
        orphans: [],
      },
    ]);
    writeFileSync(join(cwd, 'agentci_spec.yaml'), two.replace(/.*id: b.*\n/, ''));
    expect(await list()).toMatchObject([{ spec: 'changed', orphans: ['b'] }]);
    expect((await cli(['test'], { cwd })).stdout).toMatch(/no longer in the spec/);
  });

  test('without a spec the list shows the files, and an empty list is not an error', async () => {
    const { code, stdout } = await cli(['baselines', '--agent', 'rag-agent'], { cwd: tempDir() });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('no baselines') });
  });

  test('the newest passing baseline is used and named, and drift is reported', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': two, 'traces.jsonl': traces });
    await cli(['record', '--version', 'v1', '--query', 'a'], { cwd });
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      two.replaceAll('correctness:', 'path: {max_tool_calls: 3}, correctness:'),
    );
    const { stdout } = await cli(['test', '-f', 'json'], { cwd });
    const run = JSON.parse(stdout);
    expect(run.results[0].baseline).toMatchObject({ version: 'v1' });
    expect(run.results[1].baseline).toBeUndefined();
    expect(run.notices).toEqual([expect.stringContaining('changed since baseline v1')]);
  });
});

describe('agentci diff', () => {
  const saved = async (files: Record<string, object> = {}) => {
    const cwd = project(files as Record<string, object>);
    await cli(['save', '--version', 'good', '--trace-file', 'fixed.json'], { cwd });
    await cli(['save', '--version', 'bad', '--trace-file', 'wrong.json', '--force-save'], { cwd });
    return cwd;
  };

  test('correctness from pass to fail exits 1 in every format, and an answer cannot forge an annotation', async () => {
    const cwd = await saved();
    for (const format of ['console', 'json', 'github', 'markdown']) {
      const { code, stdout } = await cli(
        ['diff', '--baseline', 'good', '--compare', 'bad', '--format', format],
        {
          cwd,
          env: { GITHUB_ACTIONS: 'true' },
        },
      );
      expect({ format, code }).toEqual({ format, code: 1 });
      expect(stdout).not.toMatch(/^::error::forged/m);
      if (format === 'json') expect(JSON.parse(stdout).queries[0].has_regression).toBe(true);
      if (format === 'github' || format === 'console') {
        expect(stdout).toMatch(
          /^::error file=agentci_spec\.yaml,line=4,col=5,title=regression%3A correctness::/m,
        );
      }
    }
  });

  test('a version does not differ from itself', async () => {
    const { code, stdout } = await cli(
      ['diff', '--baseline', 'good', '--compare', 'good', '--json'],
      {
        cwd: await saved(),
      },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      queries: [{ diff_types: [], layers: [] }],
      summary: { changed: 0 },
    });
  });

  test('without a spec the traces are compared and correctness is not claimed', async () => {
    const cwd = await saved();
    writeFileSync(join(cwd, 'renamed.yaml'), readFileSync(join(cwd, 'agentci_spec.yaml')));
    const elsewhere = tempDir();
    const { code, stdout } = await cli(
      [
        'diff',
        '--baseline',
        'good',
        '--compare',
        'bad',
        '--agent',
        'rag-agent',
        '--baseline-dir',
        join(cwd, 'baselines'),
        '--json',
      ],
      { cwd: elsewhere },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      queries: [{ correctness: { before: null, after: null }, diff_types: ['output_changed'] }],
    });
  });

  test.each([
    { what: 'one version only', args: ['--baseline', 'good'], says: /NOTHING_FOUND/ },
    {
      what: 'a version that is not there',
      args: ['--baseline', 'good', '--compare', 'v9'],
      says: /BASELINE_MISSING.*good/s,
    },
    {
      what: 'a query that is in neither',
      args: ['--baseline', 'good', '--compare', 'bad', '--query', 'x'],
      says: /NOTHING_FOUND.*good has: weather; bad has: weather/s,
    },
    {
      what: 'a limit that is not a number',
      args: ['--baseline', 'good', '--compare', 'bad', '--max-regression', 'x'],
      says: /percentage/,
    },
    { what: 'a run that is not there', args: ['--baseline-run', 'x'], says: /RUN_MISSING/ },
  ])('$what exits 2', async ({ args, says }) => {
    const { code, stderr } = await cli(['diff', ...args], { cwd: await saved() });
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  test('queries are paired by id in any order, and missing ones are named', async () => {
    const ids = ['a', 'b', 'c'];
    const queries = ids
      .map(
        (id) => `  - {id: ${id}, query: ask ${id}, correctness: {expected_in_answer: [${id}]}}\n`,
      )
      .join('');
    const record = (id: string) =>
      JSON.stringify({ id, query: `ask ${id}`, answer: `this is ${id}` });
    const cwd = tempDir({
      'agentci_spec.yaml': `version: 1\nagent: x\nqueries:\n${queries}`,
      'one.jsonl': ['a', 'b', 'c'].map(record).join('\n'),
      'two.jsonl': ['c', 'a'].map(record).join('\n'),
    });
    await cli(['save', '--version', 'v1', '--trace-file', 'one.jsonl'], { cwd });
    await cli(['save', '--version', 'v2', '--trace-file', 'two.jsonl'], { cwd });
    const { code, stdout } = await cli(['diff', '--baseline', 'v1', '--compare', 'v2', '--json'], {
      cwd,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      queries: [
        { id: 'a', diff_types: [] },
        { id: 'c', diff_types: [] },
      ],
      only_before: ['b'],
      only_after: [],
    });
  });
});

describe('two stored runs', () => {
  const ids = Array.from({ length: 30 }, (_, i) => `q${i}`);
  const queries = ids
    .map((id) => `  - {id: ${id}, query: ask ${id}, correctness: {expected_in_answer: [ok]}}\n`)
    .join('');
  const traces = (good: number, cost: number) =>
    ids
      .map((id, i) =>
        JSON.stringify({
          id,
          query: `ask ${id}`,
          answer: i < good ? 'ok' : 'no',
          cost_usd: cost * (1 + i / 100),
        }),
      )
      .join('\n');

  test('distinguishes worse, no difference and inconclusive', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': `version: 1\nagent: x\nqueries:\n${queries}`,
      'good.jsonl': traces(30, 0.01),
      'bad.jsonl': traces(15, 0.01),
      'odd.jsonl': traces(29, 0.0101),
    });
    const run = async (name: string) => {
      const { stdout } = await cli(['test', '--traces', `${name}.jsonl`, '-f', 'json'], { cwd });
      return JSON.parse(stdout).run_id as string;
    };
    const good = await run('good');
    const bad = await run('bad');
    const odd = await run('odd');
    const compare = (to: string, ...args: string[]) =>
      cli(['diff', '--baseline-run', good, '--compare-run', to, '--json', ...args], { cwd });
    const worse = await compare(bad);
    expect(worse.code).toBe(1);
    expect(JSON.parse(worse.stdout)).toMatchObject({
      schema: 'agentci.comparison/1',
      metrics: [
        { metric: 'pass_rate', verdict: 'worse', test: 'mcnemar' },
        { metric: 'cost_usd', verdict: 'no_difference' },
      ],
    });
    const unclear = await compare(odd);
    // A query that passed fails now. This is a regression even if its rate may be chance.
    expect(unclear.code).toBe(1);
    expect(JSON.parse(unclear.stdout).metrics).toMatchObject([
      { metric: 'pass_rate', verdict: 'inconclusive', needed_pairs: expect.any(Number) },
      { metric: 'cost_usd', verdict: 'worse_within_limit' },
    ]);
    expect(
      (await cli(['diff', '--baseline-run', odd, '--compare-run', good, '--strict'], { cwd })).code,
    ).toBe(2);
    expect((await compare('latest', '--max-drop', 'cost_usd=0.00001')).code).toBe(1);
    const shown = await cli(['diff', '--baseline-run', good, '--compare-run', bad], { cwd });
    expect(shown.stdout).toMatch(/pass_rate: +worse \(critical\)/);
  });
});

test('repeats: the report says how sure the rate is, that the query is flaky, and why', async () => {
  const answers = ['ok', 'no', 'ok']
    .map((answer) =>
      JSON.stringify({ id: 'a', query: 'q', answer, latency_ms: 10 * answer.length }),
    )
    .join('\n');
  const cwd = tempDir({
    'agentci_spec.yaml':
      'version: 1\nagent: x\nqueries:\n  - {id: a, query: q, runs: 3, correctness: {expected_in_answer: [ok]}}\n',
    'traces.jsonl': answers,
  });
  const shown = await cli(['test', '--traces', 'traces.jsonl'], { cwd });
  expect(shown.code).toBe(1);
  expect(shown.stdout).toMatch(
    /2 of 3 runs passed \(95 % interval 21 % to 94 %\); required: 100 %\n +flaky: the agent/,
  );
  const { stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', 'json'], { cwd });
  expect(JSON.parse(stdout).results[0].stability).toMatchObject({
    class: 'flaky',
    flip: { source: 'agent', detail: 'agent-variance' },
    pass_at_k: [expect.closeTo(2 / 3, 9), 1, 1],
    pass_hat_k: [expect.closeTo(2 / 3, 9), expect.closeTo(1 / 3, 9), 0],
  });
});

test('the statistics door opens on its own', async () => {
  const door = (await import('../../dist/stats.mjs' as string)) as Record<string, unknown>;
  for (const name of [
    'wilsonInterval',
    'passAtK',
    'passHatK',
    'standardError',
    'clusteredStandardError',
    'pairedDifference',
    'mcnemar',
    'bootstrapInterval',
    'welchT',
    'mannWhitney',
    'cohensD',
    'holm',
    'cohenKappa',
    'krippendorffAlpha',
    'requiredSampleSize',
  ]) {
    expect(door[name], name).toBeTypeOf('function');
  }
});

test('a rule that the recording cannot decide is refused with its own way out', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml': 'agent: a\nqueries: [{id: q, query: q, path: {forbidden_tools: [rm]}}]\n',
    't.json': '{"id": "q", "query": "q", "answer": "done"}',
  });
  const { code, stderr } = await cli(['save', '--version', 'v1', '--trace-file', 't.json'], {
    cwd,
  });
  expect(code).toBe(2);
  expect(stderr).toContain('Record a run that holds what these checks look at');
  expect(stderr).not.toContain('--judge');
});
