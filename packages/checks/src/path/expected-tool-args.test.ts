import { describeCheck, evaluate, statusOf } from '@agentci/testing/check-cases';
import { expect, test } from 'vitest';
import { check } from './expected-tool-args.ts';

describeCheck(check, {
  sample: {
    params: [{ tool: 'refund', args: { amount: 5 } }],
    keeps: { answer: '', tool_calls: [{ name: 'refund', args: { amount: 5, note: 'x' } }] },
    breaks: { answer: '', tool_calls: [{ name: 'refund', args: { amount: 6 } }] },
  },
  inPart: [
    {
      block: { expected_tool_args: [{ tool: 'a', args: {} }] },
      run: [],
      status: 'skip: not_measured',
    },
  ],
  issues: [
    { block: { expected_tool_args: [] }, found: ['error SPEC_CANNOT_FAIL'] },
    {
      block: {
        expected_tool_args: [
          { tool: 't', args: { a: { regx: '^x' }, b: { city: 'Rome' }, c: { equals: {} } } },
        ],
      },
      found: ['warning SPEC_NEAR_MATCHER 0.args.a.regx'],
    },
    {
      block: { expected_tool_args: [{ tool: 't', args: { a: { regex: '[' } } }] },
      found: ['error SPEC_BAD_PATTERN 0.args.a.regex'],
    },
  ],
  refuses: [
    [{ tool: 't', args: { a: { equals: 1, oops: 2 } } }],
    [{ tool: 't', args: { a: { one_of: [] } } }],
    [{ tool: 't', args: { a: { tolerance: 1 } } }],
    [{ tool: 't', args: { a: { tolerance: { value: 1 } } } }],
    [{ tool: 't', args: { a: { ignore: false } } }],
    [{ tool: 't' }],
    [{ tool: 't', args: {}, extra: 1 }],
  ],
});

const run = (asked: unknown, ...args: unknown[]): string | undefined => {
  const form = {
    answer: '',
    tool_calls: args.map((value) =>
      value === undefined ? { name: 't' } : { name: 't', args: value },
    ),
  };
  return statusOf(
    evaluate('path', { expected_tool_args: [{ tool: 't', args: asked }] }, form),
    'expected_tool_args',
  );
};
test.each([
  { asked: { a: 1 }, args: { a: 1, b: 2 }, status: 'pass' },
  { asked: { a: 1 }, args: { a: '1' }, status: 'warn' },
  { asked: { a: 1 }, args: {}, status: 'warn' },
  { asked: { a: null }, args: { a: null }, status: 'pass' },
  { asked: { a: null }, args: {}, status: 'warn' },
  {
    asked: { a: { x: [1, { y: 2 }], z: 0 } },
    args: { a: { z: 0, x: [1, { y: 2 }] } },
    status: 'pass',
  },
  { asked: { a: { equals: { x: 1 } } }, args: { a: { x: 1, y: 2 } }, status: 'warn' },
  { asked: { a: { subset: { x: 1 } } }, args: { a: { x: 1, y: 2 } }, status: 'pass' },
  {
    asked: { a: { subset: [{ id: 2 }] } },
    args: { a: [{ id: 1 }, { id: 2, n: 'x' }] },
    status: 'pass',
  },
  { asked: { a: { subset: [3] } }, args: { a: [1, 2] }, status: 'warn' },
  { asked: { a: { one_of: ['x', 'y'] } }, args: { a: 'y' }, status: 'pass' },
  { asked: { a: { oneOf: ['x', 'y'] } }, args: { a: 'z' }, status: 'warn' },
  { asked: { a: { regex: '^INV-\\d+$' } }, args: { a: 'INV-12' }, status: 'pass' },
  { asked: { a: { regex: '^INV-\\d+$' } }, args: { a: 'inv-12' }, status: 'warn' },
  { asked: { a: { regex: '^1' } }, args: { a: 12 }, status: 'pass' },
  { asked: { a: { regex: '.' } }, args: { a: {} }, status: 'warn' },
  { asked: { a: { tolerance: { value: 10, abs: 0.1 } } }, args: { a: 10.1 }, status: 'pass' },
  { asked: { a: { tolerance: { value: 10, abs: 0.1 } } }, args: { a: 10.2 }, status: 'warn' },
  { asked: { a: { tolerance: { value: 200, rel: 0.05 } } }, args: { a: 190 }, status: 'pass' },
  { asked: { a: { equals: 10, tolerance: 0.5 } }, args: { a: 10.5 }, status: 'pass' },
  { asked: { a: { equals: 10, tolerance: 0.5 } }, args: { a: 10.6 }, status: 'warn' },
  { asked: { a: { tolerance: { value: 10, abs: 1 } } }, args: { a: '10' }, status: 'warn' },
  { asked: { a: { equals: null } }, args: {}, status: 'warn' },
  { asked: { a: { ignore: true }, b: 1 }, args: { b: 1 }, status: 'pass' },
  { asked: { a: 1 }, args: [1], status: 'warn' },
  { asked: { a: 1 }, args: undefined, status: 'skip: not_measured' },
  { asked: JSON.parse('{"__proto__":1}'), args: {}, status: 'warn' },
  { asked: { constructor: 1 }, args: {}, status: 'warn' },
])('$asked on $args: $status', ({ asked, args, status }) => {
  expect(run(asked, args)).toBe(status);
});

test('some call of the tool is enough, and one call must satisfy all arguments', () => {
  expect(run({ a: 1, b: 2 }, { a: 1, b: 3 }, { a: 1, b: 2 })).toBe('pass');
  expect(run({ a: 1, b: 2 }, { a: 1, b: 3 }, { a: 2, b: 2 })).toBe('warn');
  expect(run({ a: 1 })).toBe('warn');
});

test('says for each call what differed, and where', () => {
  const form = {
    answer: '',
    tool_calls: [
      { name: 't', args: { a: 2 } },
      { name: 'u', args: {} },
      { name: 't', args: {} },
    ],
  };
  const [found] = evaluate(
    'path',
    { expected_tool_args: [{ tool: 't', args: { a: 1 } }] },
    form,
  ).checks;
  expect(found?.message).toMatchInlineSnapshot(
    `"tool arguments: 0 of 1 entries satisfied; no call of t has the arguments (call 1: a is 2, not 1; call 3: a is missing)"`,
  );
  expect(found?.evidence.map(({ call }) => call)).toEqual([1, 3]);
});
