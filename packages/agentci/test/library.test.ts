import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import {
  exitCode,
  importRecordings,
  loadExperiment,
  loadSpec,
  makeSuite,
  renderReport,
  reportText,
  runExperiment,
  runSuite,
  saveSuite,
} from '../src/index.ts';

const RUN = {
  query: 'Where is order 17? I am ada@example.org.',
  answer: 'It was shipped.',
  tool_calls: [{ name: 'find_order', args: { id: 17 }, result: { state: 'shipped' } }],
};

test('recordings become a suite that passes, and its run a report, without the command line', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'runs.jsonl'), `${JSON.stringify(RUN)}\n`);
  const { traces, problems } = await importRecordings(['runs.jsonl'], { dir, redact: true });
  expect(problems).toEqual([]);
  expect(JSON.stringify(traces)).not.toContain('ada@example.org');

  const made = await makeSuite(traces, { dir, spec: 'spec.yaml' });
  expect(await saveSuite(made, { baseline: 'v1' })).toEqual([
    join('traces', 'imported.jsonl'),
    'spec.yaml',
    'baselines (1 baseline "v1")',
  ]);
  const { suite } = await loadSpec(join(dir, 'spec.yaml'));
  const run = await runSuite({ suite });
  expect(exitCode(run)).toBe(0);
  expect(reportText(await renderReport(run, { format: 'junit' }))).toContain('<testsuites');
  expect(
    reportText(await renderReport(run, { format: 'html', traces: join(dir, 'traces') })),
  ).toContain('find_order');
});

test('an experiment keeps nothing on disk unless a folder for its journal is given', async () => {
  const dir = tempDir();
  writeFileSync(
    join(dir, 'agent.mjs'),
    `export default () => ({ answer: '- restart ledger', tool_calls: [] });\n`,
  );
  writeFileSync(
    join(dir, 'experiment.yaml'),
    'version: 1\nexperiment: e\nquery: q\nground_truth: [restart ledger]\nconditions:\n  a: {runner: {module: ./agent.mjs}, trials: 2}\n',
  );
  const plan = loadExperiment(join(dir, 'experiment.yaml'));
  const events: string[] = [];
  const result = await runExperiment(plan, { onEvent: ({ type }) => events.push(type) });
  expect(result.trials).toHaveLength(2);
  expect(new Set(events)).toEqual(new Set(['condition_started', 'trial', 'condition_ended']));
  expect(existsSync(join(dir, '.agentci'))).toBe(false);

  await runExperiment(plan, { journalDir: dir });
  expect(existsSync(join(dir, '.agentci', 'runs', 'experiments', 'e.jsonl'))).toBe(true);
  const resumed: number[] = [];
  await runExperiment(plan, {
    journalDir: dir,
    resume: true,
    onEvent: (event) => event.type === 'condition_started' && resumed.push(event.madeBefore),
  });
  expect(resumed).toEqual([2]);
});
