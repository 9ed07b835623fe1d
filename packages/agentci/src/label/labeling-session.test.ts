import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { resolveRubric } from '@agentci/judge';
import { parseSpec } from '@agentci/spec';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RunLibrary } from '../view/run-library.ts';
import { startViewServer } from '../view/server.ts';
import { fileNameOf, LabelWriter, readLabelFolder } from './label-files.ts';
import { uncertaintyOf } from './label-items.ts';
import { LabelingSession } from './labeling-session.ts';

const RULE = { rule: 'names the page' };
const { id: rubricId, version } = resolveRubric(RULE);

/** Queries with judged answers. `null` means no verdict. */
function judged(scores: Readonly<Record<string, number | readonly number[] | null>>) {
  const run = runOf(
    Object.entries(scores).map(
      ([id, given]): ShortResult => ({
        id,
        query: `question of ${id}`,
        answer: `answer of ${id}`,
        status: 'pass',
        correctness: [
          checkOf('correctness.llm_judge', given === null ? 'error' : 'pass', {
            value: 4,
            limit: 3,
          }),
        ],
      }),
    ),
  );
  for (const result of run.results) {
    const given = scores[result.id] ?? [];
    result.correctness.details.judge = (typeof given === 'number' ? [given] : given).map(
      (score) => ({
        check: 'correctness.llm_judge',
        rubric: { id: rubricId, version },
        model: 'm',
        score,
        label: score >= 3 ? 'pass' : 'fail',
        rationale: `because of ${result.id}`,
      }),
    );
  }
  return run;
}

const specOf = (ids: readonly string[]) =>
  parseSpec(
    `version: 1\nagent: demo\nrunner: {replay: t.jsonl}\nqueries:\n${ids
      .map(
        (id) =>
          `  - {id: ${id}, query: question of ${id}, correctness: {llm_judge: [{rule: names the page}]}}\n`,
      )
      .join('')}`,
    { file: 'agentci_spec.yaml' },
  ).suite!;

function sessionOf(
  scores: Parameters<typeof judged>[0],
  rater = 'ada',
  folder = join(tempDir(), 'labels'),
) {
  const session = new LabelingSession({
    run: judged(scores),
    suite: specOf(Object.keys(scores)),
    traces: undefined,
    folder,
    rater,
    now: () => Date.parse('2026-11-17T10:00:00Z'),
  });
  onTestFinished(() => session.close());
  return { session, folder };
}

const named = (ids: readonly string[]) => ids.map((id) => id.split('#')[0]);

describe('labels that were changed after the judge was shown', () => {
  const idOf = (session: LabelingSession) => session.state().queue[0]!;
  const lines = (folder: string, rater: string) =>
    readFileSync(join(folder, `${rater}.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { label: string | null; revised?: boolean });

  test('say so, and agreement is of the blind ones', async () => {
    const { session, folder } = sessionOf({ a: 3 });
    const id = idOf(session);
    await session.save({ id, label: 'pass' });
    const other = sessionOf({ a: 3 }, 'bob', folder).session;
    await other.save({ id, label: 'fail' });
    await other.save({ id, label: 'pass' });
    expect(lines(folder, 'bob')).toMatchObject([
      { label: 'fail' },
      { label: 'pass', revised: true },
    ]);
    expect(lines(folder, 'bob')[0]).not.toHaveProperty('revised');
    expect(session.state()).toMatchObject({
      revised: 1,
      disputed: [],
      pairs: [{ n: 1, agreed: 0 }],
    });
    expect((await other.item(id))?.mine).toMatchObject({ label: 'pass' });
  });

  test('are not blind again once they were taken back', async () => {
    const { session, folder } = sessionOf({ a: 3 });
    const id = idOf(session);
    for (const label of ['pass', null, 'fail'] as const) await session.save({ id, label });
    expect(lines(folder, 'ada').map(({ revised }) => revised)).toEqual([undefined, true, true]);
    expect(readLabelFolder(folder).labels).toMatchObject([{ human: false, blind: true }]);
  });

  test('an answer with two rubrics is one answer', () => {
    const suite = parseSpec(
      'version: 1\nagent: demo\nrunner: {replay: t.jsonl}\nqueries:\n  - {id: a, query: question of a, correctness: {llm_judge: [{rule: one}, {rule: two}]}}\n',
      { file: 'agentci_spec.yaml' },
    ).suite!;
    const folder = join(tempDir(), 'labels');
    const session = new LabelingSession({
      run: judged({ a: null }),
      suite,
      traces: undefined,
      folder,
      rater: 'ada',
      now: () => 0,
    });
    onTestFinished(() => session.close());
    expect(session).toMatchObject({ answers: 1, total: 2, repeated: 0 });
  });
});

describe('what comes next', () => {
  test('the least certain answer is first, those without a verdict are last', () => {
    const { session } = sessionOf({ sure: 5, none: null, near: 3, split: [1, 4], bad: 1 });
    expect(named(session.state().queue)).toEqual(['split', 'near', 'bad', 'sure', 'none']);
    expect(session.state()).toMatchObject({ total: 5, labelled: 0, judged: 4 });
  });

  test.each([
    ['no verdict is no measure', [], null],
    ['next to the line', [{ score: 3, label: 'pass' }], 1 / 1.5],
    ['a label against its score is less certain', [{ score: 5, label: 'fail' }], 1 / 2.25],
    [
      'judges who cancel out are the least certain',
      [
        { score: 2, label: 'fail' },
        { score: 3, label: 'pass' },
      ],
      1,
    ],
  ] as const)('%s', (_, verdicts, expected) => {
    expect(uncertaintyOf(verdicts, 3)).toBe(expected);
  });
});

test('an answer says nothing of the judge or of others before it is labelled, and all of it afterwards', async () => {
  const { session, folder } = sessionOf({ a: 4 });
  const [id] = session.state().queue;
  const other = sessionOf({ a: 4 }, 'ben', folder).session;
  await other.save({ id, label: 'fail', note: 'vague' });
  const before = await session.item(id!);
  expect(before).toMatchObject({
    query: 'question of a',
    answer: 'answer of a',
    rule: 'names the page',
    min_score: 3,
  });
  expect(JSON.stringify([before, session.state()])).not.toMatch(/because|vague|"after"/);
  const saved = await session.save({ id, label: 'pass', score: 4 });
  expect(saved).toMatchObject({
    item: {
      mine: { label: 'pass', score: 4 },
      after: {
        judge: { status: 'pass', verdicts: [{ model: 'm', score: 4, rationale: 'because of a' }] },
        others: [{ rater: 'ben', label: 'fail', note: 'vague' }],
      },
    },
    state: {
      labelled: 1,
      queue: [],
      disputed: [id],
      pairs: [{ a: 'ada', b: 'ben', n: 1, agreed: 0 }],
    },
  });
});

test('a later label takes the place of an earlier one, and taking it back makes the answer open again', async () => {
  const { session, folder } = sessionOf({ a: 4 });
  const [id] = session.state().queue;
  await session.save({ id, label: 'pass' });
  await session.save({ id, label: 'fail', score: 1, note: 'no' });
  expect(readLabelFolder(folder).labels).toMatchObject([
    { id, human: false, score: 1, note: 'no', rater: 'ada' },
  ]);
  await session.save({ id, label: null });
  expect(readLabelFolder(folder)).toMatchObject({ labels: [], problems: [] });
  expect(session.state()).toMatchObject({ labelled: 0, queue: [id] });
  expect(readFileSync(join(folder, 'ada.jsonl'), 'utf8').split('\n')).toHaveLength(4);
});

test.each([
  ['ada', 'ada.jsonl'],
  ['../../etc/passwd', 'etc-passwd.jsonl'],
  ['..', 'rater.jsonl'],
  ['a/b\\c:d', 'a-b-c-d.jsonl'],
  ['Zoë Müller', 'Zoë-Müller.jsonl'],
  ['x'.repeat(300), `${'x'.repeat(60)}.jsonl`],
])('the labels of %j go to %j', (rater, file) => {
  expect(fileNameOf(rater)).toBe(file);
});

describe('only plain files in the labels folder are written', () => {
  test('a folder that is a link is refused', () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'elsewhere'));
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'labels'));
    expect(() => new LabelWriter(join(dir, 'labels'), 'ada.jsonl')).toThrow(/it is a link/);
    expect(existsSync(join(dir, 'elsewhere', 'ada.jsonl'))).toBe(false);
  });

  test('a file in the place of the folder is refused', () => {
    const dir = tempDir({ labels: 'my notes' });
    expect(() => new LabelWriter(join(dir, 'labels'), 'ada.jsonl')).toThrow(
      /it is a file, not a folder/,
    );
    expect(readFileSync(join(dir, 'labels'), 'utf8')).toBe('my notes');
  });

  test('a file that is a link is refused, and what it leads to is left alone', () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'labels'));
    writeFileSync(join(dir, 'target'), 'precious');
    symlinkSync(join(dir, 'target'), join(dir, 'labels', 'ada.jsonl'));
    expect(() => new LabelWriter(join(dir, 'labels'), 'ada.jsonl')).toThrow(/a link or not a file/);
    expect(readFileSync(join(dir, 'target'), 'utf8')).toBe('precious');
  });
});

test.each([
  ['half a line', '{"id":"b","que', '{"id":"a"}\n', 14],
  ['a whole line without its end', '{"id":"b"}', '{"id":"a"}\n{"id":"b"}\n', 0],
])('%s at the end of a file is put right', (_, tail, expected, cutOff) => {
  const folder = join(tempDir(), 'labels');
  mkdirSync(folder);
  writeFileSync(join(folder, 'ada.jsonl'), `{"id":"a"}\n${tail}`);
  const writer = new LabelWriter(folder, 'ada.jsonl');
  expect(writer.cutOff).toBe(cutOff);
  writer.close();
  expect(readFileSync(join(folder, 'ada.jsonl'), 'utf8')).toBe(expected);
});

describe('the server', () => {
  async function serve() {
    const { session, folder } = sessionOf({ a: 4, b: 2 });
    const library = new RunLibrary(join(tempDir(), 'runs'), '.');
    const server = await startViewServer({
      library,
      port: 0,
      version: '0',
      labeling: { labels: session, page: '<p>labels' },
    });
    onTestFinished(() => server.close());
    const [id] = session.state().queue;
    const post = (
      body: string,
      headers: Record<string, string> = {},
      url = `${server.url}api/labels`,
    ) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
    return { url: server.url, id, post, folder };
  }
  const size = (folder: string) => readFileSync(join(folder, 'ada.jsonl')).length;

  test('serves the page and its state, saves a label, and shows no stored run', async () => {
    const { url, id, post, folder } = await serve();
    expect(await (await fetch(url)).text()).toBe('<p>labels');
    expect((await fetch(`${url}api/runs`)).status).toBe(404);
    expect(await (await post(JSON.stringify({ id, label: 'pass' }))).json()).toMatchObject({
      state: { labelled: 1 },
    });
    expect(size(folder)).toBeGreaterThan(100);
  });

  test.each<[string, number, (id: string) => { body: string; headers?: Record<string, string> }]>([
    [
      'another origin',
      403,
      (id) => ({
        body: JSON.stringify({ id, label: 'pass' }),
        headers: { origin: 'http://x.example' },
      }),
    ],
    [
      'a form',
      415,
      (id) => ({
        body: JSON.stringify({ id, label: 'pass' }),
        headers: { 'content-type': 'text/plain' },
      }),
    ],
    ['no JSON', 400, () => ({ body: '{' })],
    ['an unknown answer', 400, () => ({ body: JSON.stringify({ id: '../x', label: 'pass' }) })],
    ['an unknown label', 400, (id) => ({ body: JSON.stringify({ id, label: 'maybe' }) })],
    [
      'a pass with a score that fails',
      400,
      (id) => ({ body: JSON.stringify({ id, label: 'pass', score: 2 }) }),
    ],
    [
      'a fail with a score that passes',
      400,
      (id) => ({ body: JSON.stringify({ id, label: 'fail', score: 5 }) }),
    ],
    ['a score of 6', 400, (id) => ({ body: JSON.stringify({ id, label: 'pass', score: 6 }) })],
    [
      'a note that is too long',
      400,
      (id) => ({ body: JSON.stringify({ id, label: 'pass', note: 'x'.repeat(20_000) }) }),
    ],
    ['a body that is too large', 413, () => ({ body: 'x'.repeat(100_000) })],
  ])('refuses %s and writes nothing', async (_, status, make) => {
    const { id, post, folder } = await serve();
    const { body, headers } = make(id!);
    expect((await post(body, headers)).status).toBe(status);
    expect(size(folder)).toBe(0);
  });

  test('refuses a label without the token', async () => {
    const { url, id, post, folder } = await serve();
    const other = url.replace(/\/[\w-]{32}\//, `/${'x'.repeat(32)}/api/labels`);
    expect((await post(JSON.stringify({ id, label: 'pass' }), {}, other)).status).toBe(403);
    expect(size(folder)).toBe(0);
  });
});

test('lines of others that cannot be read are counted, not obeyed', () => {
  const { session, folder } = sessionOf({ a: 4 });
  appendFileSync(join(folder, 'ben.jsonl'), 'not json\n');
  expect(session.state()).toMatchObject({ unreadable: 1, total: 1 });
});
