import { called, describeCheck, evaluate } from '@agentci/testing/check-cases';
import { expect, test } from 'vitest';
import { check } from './match-mode.ts';

describeCheck(check, {
  sample: {
    params: 'strict',
    keeps: called('a', 'b'),
    breaks: called('b', 'a'),
    baseline: called('a', 'b'),
  },
  verdicts: [
    {
      when: 'without a baseline expected_tools is the reference',
      block: { match_mode: 'superset', expected_tools: ['a'] },
      run: ['a', 'x'],
      status: 'warn',
    },
    {
      when: 'there is no reference',
      block: { match_mode: 'strict' },
      run: ['a'],
      status: 'skip: no_baseline',
    },
    {
      when: 'unwritten and without a baseline',
      block: { max_loops: 1 },
      run: ['a'],
      status: undefined,
    },
    {
      when: 'the baseline is the reference before expected_tools',
      block: { match_mode: 'unordered', expected_tools: ['a'] },
      run: ['a'],
      baseline: called('a', 'b'),
      status: 'warn',
    },
    {
      when: 'a baseline whose tool calls were not recorded is not a reference',
      block: { match_mode: 'strict' },
      run: ['a'],
      baseline: { answer: 'x' },
      status: 'skip: no_baseline',
    },
    {
      when: 'a baseline implies subset wherever path exists',
      block: {},
      run: ['b', 'x', 'a'],
      baseline: called('a', 'b'),
      status: 'pass',
    },
  ],
  inPart: [
    { mode: 'subset', run: ['a', 'b'], status: 'pass' },
    { mode: 'subset', run: ['a'], status: 'skip: not_measured' },
    { mode: 'superset', run: ['x'], status: 'warn' },
    { mode: 'superset', run: ['a'], status: 'skip: not_measured' },
    { mode: 'strict', run: ['a', 'b'], status: 'skip: not_measured' },
    { mode: 'unordered', run: ['a', 'b'], status: 'skip: not_measured' },
  ].map(({ mode, run, status }) => ({
    block: { match_mode: mode },
    run,
    status,
    baseline: called('a', 'b'),
  })),
  refuses: ['exact'],
});

test('an implied match says what it matched, and a layer without a block says nothing', () => {
  const given = { baseline: called('a', 'b') };
  expect(evaluate('path', {}, called('a'), given)).toMatchObject({
    status: 'warn',
    details: { match_mode: { mode: 'subset', matched: false } },
  });
  expect(evaluate('path', undefined, called('a'), given)).toEqual({
    status: 'skip',
    messages: [],
    details: {},
    checks: [],
  });
});

test.each(['strict', 'unordered', 'subset', 'superset'])(
  'the message of %s prints its rule',
  (mode) => {
    const [found] = evaluate('path', { match_mode: mode }, called('a'), {
      baseline: called('a'),
    }).checks;
    expect(found?.message).toContain(`${mode}: `);
  },
);
