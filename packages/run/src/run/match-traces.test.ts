import { simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import { recordingOf, TraceMatcher } from './match-traces.ts';

const ask = (id: string, query: string) => ({ id, query });
const taken = (
  queries: { id: string; query: string }[],
  runs: number,
  recordings: { ids?: string[]; text?: string }[],
) => {
  const matcher = new TraceMatcher(queries, () => runs);
  return recordings.map(({ ids = [], text }) => {
    const match = matcher.take({ ids, text, place: 'here' });
    return match.kind === 'run' ? `${match.query.id}${match.run}` : match.kind;
  });
};

test.each([
  {
    what: 'by id before text',
    queries: [ask('a', 'x'), ask('b', 'y')],
    runs: 1,
    recordings: [{ ids: ['b'], text: 'x' }],
    gives: ['b1'],
  },
  {
    what: 'by the first id that is known',
    queries: [ask('a', 'x'), ask('b', 'y')],
    runs: 1,
    recordings: [{ ids: ['no', 'b', 'a'] }],
    gives: ['b1'],
  },
  {
    what: 'by text in turn, round after round',
    queries: [ask('a', 'x'), ask('b', 'x')],
    runs: 2,
    recordings: Array(5).fill({ text: 'x' }),
    gives: ['a1', 'b1', 'a2', 'b2', 'surplus'],
  },
  {
    what: 'to nobody',
    queries: [ask('a', 'x')],
    runs: 1,
    recordings: [{ text: 'X' }, { ids: ['A'] }, {}],
    gives: ['unused', 'unused', 'unused'],
  },
])('recordings go to queries $what', ({ queries, runs, recordings, gives }) => {
  expect(taken(queries, runs, recordings)).toEqual(gives);
});

test('unreadable records without a query are not called unused', () => {
  const matcher = new TraceMatcher([ask('a', 'x')], () => 1);
  matcher.take({ ids: ['z'], place: 'broken' }, false);
  matcher.take({ ids: ['y'], place: 'whole' });
  expect([matcher.unusedCount, matcher.unusedPlaces(5)]).toEqual([1, ['whole']]);
});

test.each([
  {
    what: 'id',
    unused: { ids: ['refund-1'], text: 'something' },
    nearest: 'recording with id "refund-1"',
  },
  {
    what: 'text',
    unused: { ids: ['zzz'], text: 'How do I get a refund' },
    nearest: 'recording of "How do I get a refund"',
  },
  { what: 'nothing', unused: { ids: ['zzz'], text: 'weather' }, nearest: undefined },
])('the unused recording nearest by $what is named', ({ unused, nearest }) => {
  const matcher = new TraceMatcher([ask('refund', 'How do I get a refund?')], () => 1);
  matcher.take({ ...unused, place: 'here' });
  expect(matcher.nearest(ask('refund', 'How do I get a refund?'))).toBe(nearest);
});

test.each([
  { source: { file: 't.jsonl', line: 3 }, place: 't.jsonl:3' },
  { source: { file: 't.json' }, place: 't.json' },
  { source: {}, place: 'own' },
])(
  'a recording goes by the id of its task, then its own, and is found at $place',
  ({ source, place }) => {
    const trace = simpleTrace({ id: 'own', query: 'q', answer: 'x' });
    const recording = recordingOf({
      ...trace,
      task: { ...trace.task, id: 'task' },
      source: { format: 'simple', ...source },
    });
    expect([recording.ids, recording.place, recording.text]).toEqual([['task', 'own'], place, 'q']);
  },
);

test('where queries share recordings, one goes to every query with its text, and by id to one alone', () => {
  const queries = [ask('a', 'x'), ask('b', 'x'), ask('c', 'y')];
  const matcher = new TraceMatcher(queries, () => 1);
  const taken = (recording: { ids?: string[]; text: string }): string[] =>
    matcher
      .takeForAll({ ids: [], place: 'here', ...recording })
      .map((match) => (match.kind === 'unused' ? match.kind : `${match.kind} ${match.query.id}`));
  expect(taken({ text: 'x' })).toEqual(['run a', 'run b']);
  expect(taken({ text: 'x' })).toEqual(['surplus a', 'surplus b']);
  expect(taken({ ids: ['c'], text: 'x' })).toEqual(['run c']);
  expect(taken({ text: 'z' })).toEqual(['unused']);
});
