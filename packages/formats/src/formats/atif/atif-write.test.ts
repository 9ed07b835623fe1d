import type { ToolStep, Trace } from '@agentci/trace';
import { finalText, toolCalls, totals } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildTrace } from '../../build/build-trace.ts';
import type { DraftLlm, Turn } from '../../build/draft.ts';
import { adapter } from './atif.ts';
import { toAtif } from './atif-write.ts';

const args = fc.dictionary(
  fc.constantFrom('city', 'id', 'deep'),
  fc.oneof(fc.string(), fc.integer(), fc.boolean()),
);
const call = fc.record({
  name: fc.constantFrom('search', 'book', 'pay'),
  args,
  result: fc.oneof(fc.constantFrom('fine', '18 °C'), fc.record({ found: fc.integer() })),
  failed: fc.boolean(),
});
const round = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  input: fc.nat(5000),
  output: fc.nat(5000),
});

/** A run as an adapter would build it: replies with calls, results, an answer. */
function traceOf(
  rounds: readonly { calls: readonly Call[]; input: number; output: number }[],
  answer: string,
): Trace {
  const steps: DraftLlm[] = [];
  let since: Turn[] = [{ role: 'user', parts: [{ type: 'text', text: 'Do it.' }] }];
  let count = 0;
  for (const { calls, input, output } of rounds) {
    const asked = calls.map((one) => ({ ...one, id: `c${++count}` }));
    steps.push({
      kind: 'llm',
      input: since,
      usage: { input, output },
      ...(steps.length === 0 ? {} : { inputIsDelta: true }),
      output: {
        role: 'assistant',
        parts: [],
        calls: asked.map(({ id, name, args: given }) => ({ id, name, args: given })),
      },
    });
    since = asked.map(({ id, result, failed }) => ({
      role: 'tool' as const,
      parts: [],
      callId: id,
      result,
      status: failed ? ('error' as const) : ('ok' as const),
    }));
  }
  steps.push({
    kind: 'llm',
    input: since,
    inputIsDelta: true,
    usage: { input: 1, output: 1 },
    output: { role: 'assistant', parts: [{ type: 'text', text: answer }] },
  });
  return buildTrace(
    {
      id: 'run',
      source: { format: 'test' },
      steps,
      records: { llmCalls: 'full', toolCalls: 'full' },
    },
    { value: {} },
  );
}
type Call = { name: string; args: object; result: unknown; failed: boolean };

const readBack = (written: object): Trace => {
  const [item] = adapter.read([{ value: JSON.parse(JSON.stringify(written)) }]);
  if (item?.ok !== true) throw new Error('not read');
  return item.trace;
};
const essence = (trace: Trace) => ({
  calls: toolCalls(trace).map(({ name, args: given, result, status }: ToolStep) => ({
    name,
    given,
    result,
    status,
  })),
  tokens: [totals(trace).inputTokens, totals(trace).outputTokens],
  answer: finalText(trace),
});

describe('a trace written as ATIF', () => {
  test('keeps its tools, arguments, results, tokens and answer when it is read again', () => {
    fc.assert(
      fc.property(
        fc.array(round, { maxLength: 4 }),
        fc.constantFrom('Done.', 'It is 18 °C.'),
        (rounds, answer) => {
          const trace = traceOf(rounds, answer);
          expect(essence(readBack(toAtif(trace)))).toEqual(essence(trace));
        },
      ),
    );
  });
});
