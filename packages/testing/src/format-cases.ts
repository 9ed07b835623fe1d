import { readTraceItems } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { finalText, handoffs, queryText, toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readAll } from './read-all.ts';

/** A recording and its expected content. Omitted expectations are `null`, or an empty list. */
export interface FormatCase {
  readonly when: string;
  /** A JSON document, or the records of JSON Lines. */
  readonly recording: unknown;
  readonly lines?: true;
  readonly query?: string;
  /** `name(arguments) status`, in order. */
  readonly tools?: readonly string[];
  readonly handoffs?: readonly string[];
  readonly answer?: string;
  readonly status: Trace['status'];
  /** How much of the tool calls the recording proves. */
  readonly calls: 'full' | 'partial' | 'none';
  /** The original format of one of our traces. */
  readonly from?: string;
}

const printed = ({ recording, lines }: Pick<FormatCase, 'recording' | 'lines'>): string =>
  lines
    ? (recording as unknown[]).map((record) => JSON.stringify(record)).join('\n')
    : JSON.stringify(recording);

const said = (trace: Trace) => ({
  format: trace.source.format,
  query: queryText(trace) ?? null,
  tools: toolCalls(trace).map(
    ({ name, args, status }) =>
      `${name}(${args === undefined ? '' : JSON.stringify(args)}) ${status}`,
  ),
  handoffs: handoffs(trace).map(({ from, to }) => `${from} > ${to}`),
  answer: finalText(trace) ?? null,
  status: trace.status,
  calls: trace.captured.toolCalls,
});

/**
 * The tests common to all formats: small recordings are detected and read, and an unrelated file is
 * rejected.
 */
export function describeFormat(format: string, cases: readonly FormatCase[]): void {
  describe(format, () => {
    test.each(cases.map((one) => [one.when, one] as const))('%s', async (_, one) => {
      const {
        query = null,
        tools = [],
        handoffs: handed = [],
        answer = null,
        status,
        calls,
        from = format,
      } = one;
      const { traces, problems } = await readAll(printed(one));
      expect(problems).toEqual([]);
      expect(traces.map(said)).toEqual([
        { format: from, query, tools, handoffs: handed, answer, status, calls },
      ]);
    });

    test('a record of an unknown format is refused, even if the format is named', async () => {
      const items = [];
      for await (const item of readTraceItems(Buffer.from('{"weather": "rain"}'), { format }))
        items.push(item);
      expect(items.every((item) => !item.ok)).toBe(true);
    });
  });
}
