import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const demo = join(
  fileURLToPath(import.meta.url),
  '..',
  '..',
  '..',
  '..',
  '..',
  'demos',
  'quickstart',
);

function project(): string {
  const cwd = tempDir();
  cpSync(demo, cwd, { recursive: true, filter: (path) => !path.includes('.agentci') });
  return cwd;
}

const dataOf = (html: string, id: string): unknown => {
  const text = new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, 's').exec(
    html,
  )?.[1];
  return text === undefined ? undefined : JSON.parse(text);
};

test('-o report.html writes one page with the results and what the agent did', async () => {
  const cwd = project();
  expect((await cli(['test', '-o', 'report.html'], { cwd })).code).toBe(1);
  const html = readFileSync(join(cwd, 'report.html'), 'utf8');
  expect(dataOf(html, 'agentci-data')).toMatchObject({
    schema: 'agentci.page/1',
    run: { agent: 'docs-assistant', summary: { total: 3, exit_code: 1 } },
    evidence: ['install', 'weather', 'load-balancer'],
    notes: [],
  });
  expect(dataOf(html, 'evidence-0')).toMatchObject({
    traces: [
      {
        tools: ['retriever_tool'],
        steps: expect.arrayContaining([expect.objectContaining({ kind: 'tool' })]),
      },
    ],
  });
});

test('a stored run gives the same page as the live one', async () => {
  const cwd = project();
  await cli(['test', '-o', 'live.html'], { cwd });
  expect((await cli(['report', '-f', 'html=stored.html'], { cwd })).code).toBe(0);
  expect(readFileSync(join(cwd, 'stored.html'), 'utf8')).toBe(
    readFileSync(join(cwd, 'live.html'), 'utf8'),
  );
});

test('a page can hold the comparison with a run before', async () => {
  const cwd = project();
  await cli(['test', '-f', 'json=before.json'], { cwd });
  await cli(['test', '--quiet'], { cwd });
  const { run_id } = JSON.parse(readFileSync(join(cwd, 'before.json'), 'utf8')) as {
    run_id: string;
  };
  expect((await cli(['report', '--before', run_id, '-o', 'compared.html'], { cwd })).code).toBe(0);
  expect(dataOf(readFileSync(join(cwd, 'compared.html'), 'utf8'), 'agentci-data')).toMatchObject({
    before: { run_id, comparison: { summary: { pairs: 3 }, flips: [] } },
  });
});

test('an html report of a JSON result says that it has no timelines', async () => {
  const cwd = project();
  await cli(['test', '-f', 'json=results.json'], { cwd });
  await cli(['report', '-i', 'results.json', '-o', 'report.html'], { cwd });
  expect(dataOf(readFileSync(join(cwd, 'report.html'), 'utf8'), 'agentci-data')).toMatchObject({
    evidence: [],
    notes: [expect.any(String)],
  });
  await cli(['report', '-i', 'results.json', '--traces', 'traces.jsonl', '-o', 'report.html'], {
    cwd,
  });
  expect(dataOf(readFileSync(join(cwd, 'report.html'), 'utf8'), 'agentci-data')).toMatchObject({
    evidence: ['install', 'weather', 'load-balancer'],
    notes: [],
  });
});

test('view prints its address, serves the runs, and ends with 0 on Ctrl-C', async () => {
  const cwd = project();
  await cli(['test', '--quiet'], { cwd });
  const child = spawn(process.execPath, [CLI, 'view'], { cwd });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
  expect(await (await fetch(`${url}api/runs`)).json()).toMatchObject([
    { agent: 'docs-assistant', finished: true, summary: { failed: 1 } },
  ]);
  expect((await fetch(new URL('/', url))).status).toBe(403);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each([
  { args: ['view', '--run', 'nope'], code: 'RUN_MISSING' },
  { args: ['view', '--port', '70000'], code: 'OPTION_INVALID' },
  { args: ['report', '-o', 'x.html', '--traces', 'nope'], code: 'TRACES_MISSING' },
  { args: ['report', '-o', 'x.html', '--before', 'nope'], code: 'RUN_MISSING' },
])('$args is a mistake of the user: $code', async ({ args, code }) => {
  const cwd = project();
  if (args[0] === 'report') await cli(['test', '--quiet'], { cwd });
  const { code: exit, stderr } = await cli(args, { cwd });
  expect({ exit, named: stderr.includes(`[${code}]`) }).toEqual({ exit: 2, named: true });
  expect(existsSync(join(cwd, 'x.html'))).toBe(false);
});
