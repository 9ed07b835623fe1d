import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const times = { start_time: '2026-05-04T08:00:00Z', end_time: '2026-05-04T08:00:01Z' };
const phoenix = (span_kind: string, span_id: string, attributes: object, more: object = {}) => ({
  id: `U3Bhbjo${span_id}`,
  name: span_kind.toLowerCase(),
  context: { trace_id: '7a', span_id },
  span_kind,
  parent_id: null,
  status_code: 'OK',
  attributes,
  ...times,
  ...more,
});

describe('spans of exports with other field names', () => {
  const forms: readonly (readonly [string, unknown])[] = [
    ['a list of Phoenix', [phoenix('TOOL', 'a1', { 'tool.name': 'dig' })]],
    [
      'a page of its API',
      { data: [phoenix('TOOL', 'a1', { 'tool.name': 'dig' })], next_cursor: null },
    ],
    ['attributes one in the other', [phoenix('TOOL', 'a1', { tool: { name: 'dig' } })]],
    ['traces under names', { one: [phoenix('TOOL', 'a1', { 'tool.name': 'dig' })] }],
    [
      'rows of its table',
      [
        {
          name: 't',
          span_kind: 'TOOL',
          'context.span_id': 'a1',
          'attributes.tool.name': 'dig',
          parent_id: null,
          ...times,
        },
      ],
    ],
    [
      'columns of its table',
      {
        name: { 0: 't' },
        span_kind: { 0: 'TOOL' },
        'context.span_id': { 0: 'a1' },
        'attributes.tool.name': { 0: 'dig' },
        start_time: { 0: times.start_time },
      },
    ],
    [
      'the collector’s table',
      [
        {
          Timestamp: '2026-05-04 08:00:00.000000000',
          TraceId: '7a',
          SpanId: 'a1',
          SpanName: 't',
          SpanAttributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'dig' },
          Duration: 1_000_000,
          StatusCode: 'Ok',
        },
      ],
    ],
    [
      'a tree without ids',
      {
        spans: [
          {
            span_name: 'main',
            span_attributes: {},
            timestamp: times.start_time,
            duration: 'PT2S',
            child_spans: [
              {
                span_name: 't',
                span_attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'dig' },
                timestamp: times.start_time,
                duration: 'PT1S',
                child_spans: [],
              },
            ],
          },
        ],
      },
    ],
  ];
  test.each(forms)('%s shows its call', async (_, recording) => {
    const trace = await readOne(JSON.stringify(recording));
    expect(trace.source.format).toBe('otel-openinference');
    expect(toolNames(trace)).toEqual(['dig']);
  });

  test('a span of no kind that Phoenix knows is read by its attributes', async () => {
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'dig' };
    const trace = await readOne(JSON.stringify([phoenix('UNKNOWN', 'a1', attributes)]));
    expect(trace.source.format).toBe('otel-genai');
    expect(toolNames(trace)).toEqual(['dig']);
  });

  test('an id of zeros is real if a missing parent is null', async () => {
    const zero = '0000000000000000';
    const trace = await readOne(
      JSON.stringify([
        phoenix('AGENT', zero, { 'output.value': 'Dug.' }, { name: 'gardener' }),
        phoenix('TOOL', 'a1', { 'tool.name': 'dig' }, { parent_id: zero }),
      ]),
    );
    expect(trace.agents.map(({ name }) => name)).toEqual(['gardener']);
    expect(trace.steps.find(({ kind }) => kind === 'tool')).toMatchObject({ agent: 'gardener' });
    expect(finalText(trace)).toBe('Dug.');
  });

  test('named traces stay apart though they share the ids of their calls', async () => {
    const run = (trace_id: string) => [
      phoenix(
        'TOOL',
        'a1',
        { 'tool.name': 'dig', 'tool.id': 'c1' },
        { context: { trace_id, span_id: 'a1' } },
      ),
    ];
    const { traces } = await readAll(JSON.stringify({ first: run('71'), second: run('72') }));
    expect(traces.map(({ id }) => id)).toEqual(['first', 'second']);
  });

  test('an LLM span without its messages does not say that nothing was called', async () => {
    const trace = await readOne(JSON.stringify([phoenix('LLM', 'a1', {})]));
    expect(trace.captured.toolCalls).toBe('none');
  });
});
