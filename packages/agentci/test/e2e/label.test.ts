import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LabelState } from '@agentci/results';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const demo = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..', 'demos', 'judge');

/** The demo with its stored verdicts, run once. */
async function project(): Promise<string> {
  const cwd = tempDir();
  cpSync(demo, cwd, {
    recursive: true,
    filter: (path) => !path.includes(join('.agentci', 'runs')),
  });
  await cli(['test', '--judge', 'recorded', '--quiet'], { cwd });
  return cwd;
}

async function label(
  cwd: string,
  rater: string,
): Promise<{ url: string; child: ChildProcess; state: LabelState }> {
  const child = spawn(process.execPath, [CLI, 'view', '--label', '--rater', rater], { cwd });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  return { url, child, state: (await (await fetch(`${url}api/labels`)).json()) as LabelState };
}

const post = (url: string, body: object) =>
  fetch(`${url}api/labels`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('every label that was confirmed is on disk after kill -9, again and again', async () => {
  const cwd = await project();
  const confirmed: string[] = [];
  for (let round = 0; round < 4; round++) {
    const { url, child, state } = await label(cwd, 'ada');
    const ids = [...state.queue, ...state.queue];
    setTimeout(() => child.kill('SIGKILL'), 40 + round * 35);
    for (let i = 0; ; i++) {
      const note = `note ${round}/${i}`;
      const reply = await post(url, { id: ids[i % ids.length], label: 'pass', note }).catch(
        () => undefined,
      );
      if (reply?.status !== 200) break;
      confirmed.push(note);
      // A labeled answer stays in the list of this round. A later line replaces the label.
    }
    const written = readFileSync(join(cwd, 'labels', 'ada.jsonl'), 'utf8');
    const notes = new Set(
      written
        .slice(0, written.lastIndexOf('\n') + 1)
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { note: string }).note),
    );
    expect(confirmed.filter((note) => !notes.has(note))).toEqual([]);
    // After a while all answers are labeled. Clears the labels for the next round.
    writeFileSync(join(cwd, 'labels', 'ben.jsonl'), '');
    const again = await label(cwd, 'ada');
    if (again.state.queue.length === 0)
      for (const id of new Set(ids)) {
        await post(again.url, { id, label: null, note: 'open again' });
      }
    again.child.kill('SIGKILL');
    await once(again.child, 'exit');
  }
  expect(confirmed.length).toBeGreaterThan(4);
});

test('labels of two raters calibrate the judge, and their disagreements are left out', async () => {
  const cwd = await project();
  const ada = await label(cwd, 'ada');
  const ben = await label(cwd, 'ben');
  const ids = ada.state.queue;
  expect(ids.length).toBeGreaterThan(1);
  for (const id of ids) await post(ada.url, { id, label: 'pass' });
  for (const [i, id] of ids.entries())
    await post(ben.url, { id, label: i === 0 ? 'fail' : 'pass' });
  const state = (await (await fetch(`${ben.url}api/labels`)).json()) as LabelState;
  expect(state).toMatchObject({
    queue: [],
    disputed: [ids[0]],
    pairs: [{ a: 'ada', b: 'ben', agreed: ids.length - 1 }],
  });
  const { stdout, code } = await cli(
    ['judge', 'calibrate', '--labels', 'labels', '--judge', 'recorded'],
    { cwd },
  );
  expect(stdout).toContain(`raters: ada and ben agree on ${ids.length - 1} of ${ids.length}`);
  expect(stdout).toContain(`1 answer left out because raters disagree: ${ids[0]}`);
  // The stored verdicts are those of the ensemble that gates, so nothing is asked again.
  expect(stdout).toContain(
    'judged by the ensemble of the spec: scripted-judge, scripted-judge-strict, scripted-judge-kind',
  );
  expect(stdout).not.toContain('got no verdict');
  expect(code).toBe(0);
});

test('labels carry the passing score of their rubric, and calibrate measures at that score', async () => {
  const cwd = await project();
  const { url, state } = await label(cwd, 'ada');
  const shown = new Map<string, number>();
  for (const id of state.queue) {
    await post(url, { id, label: 'pass' });
    const item = await (await fetch(`${url}api/labels/item?id=${encodeURIComponent(id)}`)).json();
    shown.set(id, (item as { min_score: number }).min_score);
  }
  const { stdout } = await cli(
    ['judge', 'calibrate', '--labels', 'labels', '--judge', 'recorded', '--json'],
    { cwd },
  );
  const { passing_scores: lines } = JSON.parse(stdout) as {
    passing_scores: { min_score: number; from: string; labels: number }[];
  };
  expect(new Set(shown.values()).size).toBeGreaterThan(1);
  expect(lines.every(({ from }) => from === 'label')).toBe(true);
  for (const { min_score, labels } of lines)
    expect([...shown.values()].filter((score) => score === min_score)).toHaveLength(labels);
});

test('a truncated last line is dropped and named, other broken lines are errors', async () => {
  const cwd = await project();
  const line = JSON.stringify({ id: 'a', query: 'q', answer: 'x', label: 'fail', rule: 'r' });
  const calibrate = () =>
    cli(['judge', 'calibrate', '--labels', 'l.jsonl', '--judge', 'recorded'], { cwd });
  writeFileSync(join(cwd, 'l.jsonl'), `\ufeff${line}\n{"id":"b","que`);
  const torn = await calibrate();
  expect(torn.stderr).toContain('l.jsonl:2: the last line was cut off');
  expect(torn.stdout).toContain('1 labels got no verdict');
  writeFileSync(join(cwd, 'l.jsonl'), `{"id":"b","que\n${line}\n`);
  expect((await calibrate()).stderr).toContain('l.jsonl:1:1 DATA_INVALID');
});

test.each([
  [['view', '--rater', 'ada'], 'OPTIONS_CONFLICT'],
  [['view', '--label', '--rater', ' '], 'OPTION_INVALID'],
  [['view', '--label', '--run', 'none'], 'RUN_MISSING'],
])('%j is refused with %s', async (args, code) => {
  const cwd = await project();
  const result = await cli(args, { cwd });
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(code);
});
