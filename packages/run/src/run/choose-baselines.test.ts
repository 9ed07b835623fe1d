import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { BaselineSet } from './choose-baselines.ts';

const suite = parseSpec(
  'agent: demo\nqueries:\n  - {id: a, query: same, path: {}}\n  - {id: b, query: same, path: {}}\n  - {id: c, query: other, path: {}}\n',
).suite!;

interface Saved {
  readonly version: string;
  readonly day: number;
  readonly id?: string | undefined;
  readonly query?: string;
  readonly metadata?: object;
}
const baselines = (
  saved: readonly Saved[],
  options: { version?: string; baseline?: string } = {},
) => {
  const files = saved.map(
    ({ version, day, id, query = 'same', metadata = { precheck_passed: true } }, i) => [
      `demo/${version}/${id ?? i}.json`,
      {
        version,
        agent: 'demo',
        query,
        ...(id === undefined ? {} : { query_id: id }),
        captured_at: `2026-01-0${day}T00:00:00Z`,
        metadata,
        trace: { query, answer: version },
      },
    ],
  );
  const { baseline, version } = options;
  return new BaselineSet(
    { ...suite, ...(baseline === undefined ? {} : { baseline }) },
    {
      dir: tempDir(Object.fromEntries(files)),
      version,
    },
  );
};
const versions = async (chosen: BaselineSet) =>
  Promise.all(suite.queries.map(async (query) => (await chosen.get(query))?.version));

test.each<{
  when: string;
  saved: Saved[];
  options?: { version?: string; baseline?: string };
  gives: (string | undefined)[];
}>([
  { when: 'there is none', saved: [], gives: [undefined, undefined, undefined] },
  {
    when: 'the newest by its time, not by its name',
    saved: [
      { version: 'v1', day: 3, id: 'a' },
      { version: 'v2', day: 2, id: 'a' },
    ],
    gives: ['v1', undefined, undefined],
  },
  {
    when: 'one was forced and one failed its precheck',
    saved: [
      { version: 'v1', day: 1, id: 'a' },
      { version: 'v2', day: 2, id: 'a', metadata: { precheck_passed: true, forced: true } },
      { version: 'v3', day: 3, id: 'a', metadata: { precheck_passed: false } },
      { version: 'v4', day: 4, id: 'a', metadata: {} },
    ],
    gives: ['v1', undefined, undefined],
  },
  {
    when: 'the spec names one',
    saved: [
      { version: 'v1', day: 1, id: 'a' },
      { version: 'v2', day: 2, id: 'a' },
    ],
    options: { baseline: 'v1' },
    gives: ['v1', undefined, undefined],
  },
  {
    when: 'the command line names another than the spec',
    saved: [
      { version: 'v1', day: 1, id: 'a' },
      { version: 'v2', day: 2, id: 'a', metadata: { forced: true } },
    ],
    options: { baseline: 'v1', version: 'v2' },
    gives: ['v2', undefined, undefined],
  },
  {
    when: 'it has no id: the first query of its text',
    saved: [{ version: 'v1', day: 1 }],
    gives: ['v1', undefined, undefined],
  },
  {
    when: 'its id is of another query than its text',
    saved: [{ version: 'v1', day: 1, id: 'c' }],
    gives: [undefined, undefined, undefined],
  },
])('the baseline of each query when $when', async ({ saved, options, gives }) => {
  expect(await versions(baselines(saved, options))).toEqual(gives);
});

test.each<{ what: string; saved: Saved[]; notices: unknown[] }>([
  {
    what: 'a baseline in use from another spec is reported once',
    saved: [
      {
        version: 'v1',
        day: 1,
        id: 'a',
        metadata: { precheck_passed: true, spec_hash: 'sha256:old' },
      },
      {
        version: 'v1',
        day: 1,
        id: 'b',
        metadata: { precheck_passed: true, spec_hash: 'sha256:old' },
      },
    ],
    notices: ['the spec has changed since baseline v1 was captured'],
  },
  {
    what: 'one that a newer one replaced is not',
    saved: [
      {
        version: 'v1',
        day: 1,
        id: 'a',
        metadata: { precheck_passed: true, spec_hash: 'sha256:old' },
      },
      {
        version: 'v2',
        day: 2,
        id: 'a',
        metadata: { precheck_passed: true, spec_hash: suite.hash },
      },
    ],
    notices: [],
  },
  {
    what: 'a baseline with another question is reported',
    saved: [{ version: 'v1', day: 1, id: 'a', query: 'Something else?' }],
    notices: [expect.stringContaining('is of another question than "a" asks now')],
  },
  {
    what: 'a baseline of a deleted query is reported',
    saved: [{ version: 'v1', day: 1, id: 'gone', query: 'gone' }],
    notices: [expect.stringContaining('is of a query that is no longer in the spec')],
  },
])('$what', ({ saved, notices }) => {
  expect(baselines(saved).notices).toEqual(notices);
});
