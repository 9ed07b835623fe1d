import type { Layer } from '@agentci/results';
import { type Block, called, evaluate } from '@agentci/testing/check-cases';
import { describe, expect, test } from 'vitest';

const checkOf = (layer: Layer, block: Block, run: unknown) =>
  evaluate(layer, block, run).checks.find(({ id }) => /\.(?:all|any|not)$/.test(id))!;

/** Blocks that hold, are violated, are unknown, and do not count. */
const HELD = { max_tool_calls: 5 };
const VIOLATED = { max_tool_calls: 0 };
const UNKNOWN = { max_handoff_count: 1 };
const SILENT = { rules: [{ type: 'before', first: 'x', then: 'y' }] };
const run = called('a', 'b');

describe('a warning does not hide what could have failed', () => {
  const unread = {
    answer: 'x',
    tool_calls: [{ name: 'rm', args: '{"path": "/etc", "rec' }, { name: 'b' }],
  };
  const FORBIDDEN = { forbidden_calls: [{ tool: 'rm', args: { path: '/etc' } }] };
  test.each([
    { block: { all: [FORBIDDEN, { max_tool_calls: 1 }] }, status: 'error' },
    { block: { all: [FORBIDDEN, { max_tool_calls: 5 }] }, status: 'error' },
    { block: { all: [{ all: [FORBIDDEN] }, { max_tool_calls: 1 }] }, status: 'error' },
    { block: { all: [{ expected_tools: ['z'] }, { max_tool_calls: 1 }] }, status: 'warn' },
  ])('$block is $status', ({ block, status }) => {
    expect(checkOf('path', block, unread).status).toBe(status);
  });
});

describe('three-valued, in the path layer', () => {
  test.each([
    { block: { all: [HELD, HELD] }, status: 'pass' },
    { block: { all: [HELD, VIOLATED] }, status: 'warn' },
    { block: { all: [UNKNOWN, VIOLATED] }, status: 'warn' },
    { block: { all: [HELD, UNKNOWN] }, status: 'skip: not_measured' },
    { block: { any: [VIOLATED, HELD] }, status: 'pass' },
    { block: { any: [UNKNOWN, HELD] }, status: 'pass' },
    { block: { any: [VIOLATED, UNKNOWN] }, status: 'skip: not_measured' },
    { block: { any: [VIOLATED, VIOLATED] }, status: 'warn' },
    { block: { not: VIOLATED }, status: 'pass' },
    { block: { not: HELD }, status: 'warn' },
    { block: { not: UNKNOWN }, status: 'skip: not_measured' },
    { block: { not: { ...HELD, ...UNKNOWN } }, status: 'skip: not_measured' },
    { block: { not: { ...VIOLATED, ...UNKNOWN } }, status: 'pass' },
    { block: { not: { not: HELD } }, status: 'pass' },
    { block: { any: [{ all: [HELD, VIOLATED] }, { not: VIOLATED }] }, status: 'pass' },
    { block: { all: [SILENT, HELD] }, status: 'pass' },
    { block: { all: [SILENT] }, status: 'skip: not_exercised' },
    { block: { any: [SILENT, VIOLATED] }, status: 'warn' },
    { block: { not: SILENT }, status: 'skip: not_exercised' },
  ])('$block is $status', ({ block, status }) => {
    const check = checkOf('path', block, run);
    expect(
      check.skip_reason === undefined ? check.status : `${check.status}: ${check.skip_reason}`,
    ).toBe(status);
  });
});

describe('severity', () => {
  const missing = { expected_in_answer: ['nowhere'] };
  test.each<{ layer: Layer; block: Block; status: string }>([
    { layer: 'correctness', block: { any: [missing] }, status: 'fail' },
    { layer: 'correctness', block: { any: [missing], severity: 'warn' }, status: 'warn' },
    { layer: 'correctness', block: { all: [{ ...missing, severity: 'warn' }] }, status: 'warn' },
    {
      layer: 'correctness',
      block: { all: [{ ...missing, severity: 'warn' }, missing] },
      status: 'fail',
    },
    {
      layer: 'correctness',
      block: { severity: 'warn', all: [{ ...missing, severity: 'fail' }] },
      status: 'fail',
    },
    { layer: 'path', block: { all: [VIOLATED], severity: 'fail' }, status: 'fail' },
    {
      layer: 'path',
      block: { all: [{ forbidden_tools: ['a'] }], severity: 'warn' },
      status: 'fail',
    },
    { layer: 'path', block: { all: [UNKNOWN], severity: 'fail' }, status: 'error' },
    { layer: 'cost', block: { any: [{ max_cost_usd: 1 }] }, status: 'skip' },
    {
      layer: 'correctness',
      block: { any: [{ similarity: { to: 'x', min: 0.5 } }] },
      status: 'error',
    },
  ])('$layer $block: $status', ({ layer, block, status }) => {
    expect(checkOf(layer, block, { ...run, answer: 'hello' }).status).toBe(status);
  });
});

test('says which part decided, with the number and the limit, and lists every part', () => {
  const check = checkOf('path', { any: [VIOLATED, HELD] }, run);
  expect(check.message).toBe(
    'any: 1 of 2 held (need at least 1); [1].max_tool_calls: tool calls: 2 of at most 5',
  );
  expect(check).toMatchObject({ value: 1, limit: 1 });
  expect(check.parts).toMatchObject([
    { id: 'path.any[0].max_tool_calls', outcome: 'violated', value: 2, limit: 0 },
    { id: 'path.any[1].max_tool_calls', outcome: 'held', value: 2, limit: 5 },
  ]);
});

test('a part that throws is unknown, never a pass', () => {
  const check = checkOf('correctness', { not: { regex_match: 7 } }, { answer: 'x' });
  expect(check.status).toBe('error');
});

test('rubrics in a combinator that no judge was asked about are left out, not passed', () => {
  const check = checkOf(
    'correctness',
    { not: { llm_judge: [{ rule: 'is rude' }] } },
    { answer: 'x' },
  );
  expect(check).toMatchObject({ status: 'skip', skip_reason: 'not_run' });
});

describe('messages say each thing once', () => {
  const one = { answer: 'x', tool_calls: [{ name: 'a', args: {} }] };
  test.each([
    {
      block: { not: UNKNOWN },
      message: 'not: 0 of 1 held, 1 unknown (not all may); max_handoff_count: ',
    },
    {
      block: { any: [VIOLATED, UNKNOWN] },
      message: 'any: 0 of 2 held, 1 unknown (need at least 1); [1].max_handoff_count: ',
    },
    {
      block: { all: [HELD, UNKNOWN] },
      message: 'all: 1 of 2 held, 1 unknown; [1].max_handoff_count: ',
    },
    {
      block: { all: [{ expr: 'size(calls) > 4' }] },
      message: 'all: 0 of 1 held; [0].expr: size(calls) > 4 is false',
    },
    {
      block: { not: { expr: 'size(calls) == 1' } },
      message: 'not: 1 of 1 held (not all may); expr: size(calls) == 1 is true',
    },
    {
      block: { all: [{ not: HELD }] },
      message: 'all: 0 of 1 held; [0].not: 1 of 1 held (not all may); max_tool_calls: ',
    },
  ])('$block: $message', ({ block, message }) => {
    const check = checkOf('path', block, one);
    expect(check.message.startsWith(message) ? message : check.message).toBe(message);
  });
});
