import { expect, test } from 'vitest';
import { adapter } from './mcp.ts';

const line = (seq: number, event: string, more: object = {}) => ({
  value: { ts: `2026-01-01T00:00:0${seq}.000Z`, seq, prev: 'x', event, session: '1', ...more },
  file: 'audit.jsonl',
  line: seq,
});
const decision = (seq: number, tool: string | null, more: object = {}) =>
  line(seq, 'decision', { server: 'mail', tool, args: { n: seq }, decision: 'allow', ...more });
const START = line(1, 'start', { schema: 'agentci.guard-audit/1', server: 'mail' });
const traceOf = (...records: ReturnType<typeof line>[]) => {
  expect(adapter.detect(records.map(({ value }) => value))).toBeGreaterThan(0.9);
  const [first] = adapter.read!(records as never) as unknown as { trace: Record<string, never> }[];
  return first!.trace as unknown as {
    steps: object[];
    captured: Record<string, string>;
    meta: object;
    status: string;
  };
};

test('an audit is a trace of the calls that were passed on, with what they gave back', () => {
  const { steps, captured, meta } = traceOf(
    START,
    decision(2, 'read'),
    decision(3, 'rm', { decision: 'deny' }),
    decision(4, 'send', { args: { key: '[redacted]' }, redacted: true }),
    decision(5, 'send', { continues: true }),
    line(6, 'result', { call: 0, tool: 'read', result: 'mail', error: null }),
    line(7, 'result', { call: 1, tool: 'send', error: 'no' }),
    line(8, 'end', { calls: 2, refused: 1 }),
  );
  expect(steps).toMatchObject([
    { name: 'read', args: { n: 2 }, result: 'mail', status: 'ok', server: 'mail' },
    { name: 'send', status: 'error', error: { message: 'no' } },
  ]);
  expect(steps[1]).toMatchObject({ args: undefined });
  expect(captured).toMatchObject({
    toolCalls: 'full',
    toolArgs: 'partial',
    toolResults: 'partial',
    toolErrors: 'full',
  });
  expect(meta).toEqual({ refused_calls: 1 });
});

test.each([
  ['without an end', [START, decision(2, 'read')]],
  ['without a start', [decision(2, 'read'), line(3, 'end')]],
])('a session %s does not prove that there were no other calls', (_, records) => {
  expect(traceOf(...records)).toMatchObject({
    status: 'incomplete',
    captured: { toolCalls: 'partial' },
  });
});

test('results that were not recorded are not captured', () => {
  const { captured, steps } = traceOf(START, decision(2, 'read'), line(3, 'end'));
  expect(steps).toMatchObject([{ status: 'unknown' }]);
  expect(captured).toMatchObject({ toolCalls: 'full', toolResults: 'none', toolErrors: 'none' });
});
