import type { PageStep } from '@agentci/results';
import { expect, test } from 'vitest';
import { layLanes } from '../../../report-ui/src/lanes.ts';
import { collapseNames, groupSteps, orderSteps } from '../../../report-ui/src/step-groups.ts';

const step = (seq: number, title: string, rest: Partial<PageStep> = {}): PageStep => ({
  seq,
  kind: title.startsWith('gpt') ? 'llm' : 'tool',
  title,
  depth: 0,
  status: 'ok',
  fields: [],
  ...rest,
});
const steps = (titles: string) => titles.split(' ').map((title, i) => step(i + 1, title));
const shape = (titles: string) =>
  groupSteps(steps(titles)).map(
    ({ rounds }) => `${rounds[0]!.map(({ title }) => title).join('+')}×${rounds.length}`,
  );

test.each([
  { what: 'one call after the other', titles: 'a b c', groups: ['a×1', 'b×1', 'c×1'] },
  { what: 'the same call again and again', titles: 'r r r x', groups: ['r×3', 'x×1'] },
  { what: 'model and tool in turn', titles: 'gpt r gpt r gpt r gpt', groups: ['gpt+r×3', 'gpt×1'] },
  {
    what: 'two rounds, which are still easy to read',
    titles: 'gpt r gpt r',
    groups: ['gpt×1', 'r×1', 'gpt×1', 'r×1'],
  },
  { what: 'three steps in turn', titles: 'a b c a b c a b c', groups: ['a+b+c×3'] },
])('repeats are folded: $what', ({ titles, groups }) => {
  expect(shape(titles)).toEqual(groups);
});

test('folding neither loses nor moves a step', () => {
  const all = steps('gpt r r gpt r gpt r gpt r x x y');
  expect(groupSteps(all).flatMap(({ rounds }) => rounds.flat())).toEqual(all);
});

test('calls of different agents are not repeats of each other', () => {
  const all = [step(1, 'r', { agent: 'A' }), step(2, 'r', { agent: 'B' })];
  expect(groupSteps(all)).toHaveLength(2);
});

test('steps are in the order of their times, and of the recording where times are missing', () => {
  const late = step(1, 'late', { start_ms: 50, duration_ms: 10 });
  const early = step(2, 'early', { start_ms: 0, duration_ms: 10 });
  const untimed = step(3, 'untimed');
  expect(orderSteps([late, early])).toEqual({ steps: [early, late], basis: 'times' });
  expect(orderSteps([late, early, untimed])).toEqual({
    steps: [late, early, untimed],
    basis: 'some times',
  });
  expect(orderSteps([untimed]).basis).toBe('recording');
});

test('each agent has a lane, and concurrent calls are in separate rows', () => {
  const { lanes, spanMs } = layLanes(
    orderSteps([
      step(1, 'Triage', { kind: 'agent', agent: 'Triage', start_ms: 0, duration_ms: 100 }),
      step(2, 'a', { agent: 'Triage', start_ms: 0, duration_ms: 50 }),
      step(3, 'b', { agent: 'Triage', start_ms: 20, duration_ms: 50 }),
      step(4, 'c', { agent: 'Billing', start_ms: 80, duration_ms: 20 }),
    ]),
  );
  expect(spanMs).toBe(100);
  expect(
    lanes.map(({ name, rows, bars }) => [name, rows, bars.map(({ left, width }) => [left, width])]),
  ).toEqual([
    [
      'Triage',
      2,
      [
        [0, 50],
        [20, 50],
      ],
    ],
    ['Billing', 1, [[80, 20]]],
  ]);
});

test('without times the bars say the order and no more', () => {
  const { lanes, spanMs } = layLanes(orderSteps(steps('a b')));
  expect(spanMs).toBeUndefined();
  expect(lanes[0]!.bars.map(({ left, width }) => [left, width])).toEqual([
    [0, 50],
    [50, 50],
  ]);
});

test('names that repeat are counted', () => {
  expect(collapseNames(['r', 'r', 'x', 'r'])).toEqual([
    { name: 'r', times: 2 },
    { name: 'x', times: 1 },
    { name: 'r', times: 1 },
  ]);
});
