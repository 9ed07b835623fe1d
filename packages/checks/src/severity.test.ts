import type { Layer } from '@agentci/results';
import { type Block, called, evaluate, statusOf } from '@agentci/testing/check-cases';
import { describe, expect, test } from 'vitest';
import { severityOf } from './severity.ts';

const costly = { answer: 'ok', cost_usd: 5, tool_calls: [] };

describe('severity of a block', () => {
  test.each<{
    when: string;
    layer: Layer;
    block: Block;
    key: string;
    run: unknown;
    status: string;
  }>([
    {
      when: 'correctness fails',
      layer: 'correctness',
      block: {},
      key: 'expected_in_answer',
      run: costly,
      status: 'fail',
    },
    {
      when: 'correctness made to warn',
      layer: 'correctness',
      block: { severity: 'warn' },
      key: 'expected_in_answer',
      run: costly,
      status: 'warn',
    },
    {
      when: 'cost made to fail',
      layer: 'cost',
      block: { severity: 'fail' },
      key: 'max_cost_usd',
      run: costly,
      status: 'fail',
    },
    {
      when: 'path made to fail',
      layer: 'path',
      block: { severity: 'fail' },
      key: 'max_tool_calls',
      run: called('a', 'b'),
      status: 'fail',
    },
    {
      when: 'a forbidden tool is not softened',
      layer: 'path',
      block: { severity: 'warn' },
      key: 'forbidden_tools',
      run: called('a'),
      status: 'fail',
    },
    {
      when: 'a rule is not softened',
      layer: 'path',
      block: { severity: 'warn' },
      key: 'rules',
      run: called('a'),
      status: 'fail',
    },
    {
      when: 'not measured in a check that fails',
      layer: 'cost',
      block: { severity: 'fail' },
      key: 'max_cost_usd',
      run: { answer: 'ok' },
      status: 'error',
    },
    {
      when: 'not measured in a check that warns',
      layer: 'correctness',
      block: { severity: 'warn' },
      key: 'expected_in_answer',
      run: { tool_calls: [] },
      status: 'skip: not_measured',
    },
  ])('$when: $status', ({ layer, block, key, run, status }) => {
    const params: Block = {
      expected_in_answer: ['missing'],
      max_cost_usd: 1,
      max_tool_calls: 1,
      forbidden_tools: ['a'],
      rules: [{ type: 'require', tool: 'z' }],
    };
    expect(statusOf(evaluate(layer, { [key]: params[key], ...block }, run), key)).toBe(status);
  });

  test('a check that was not written keeps its own', () => {
    const baseline = called('a', 'b');
    const block = { severity: 'fail', max_tool_calls: 9 };
    expect(statusOf(evaluate('path', block, called('c'), { baseline }), 'match_mode')).toBe('warn');
    expect(
      statusOf(
        evaluate('path', { ...block, match_mode: 'strict' }, called('c'), { baseline }),
        'match_mode',
      ),
    ).toBe('fail');
  });

  test('anything else in its place is not a severity', () => {
    expect(severityOf({ severity: 'warn' }, { severity: 'error' })).toBe('warn');
  });
});
