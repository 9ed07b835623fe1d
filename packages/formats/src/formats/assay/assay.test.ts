import { describeOutside } from '@agentci/testing/outside';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import { toolCalls, toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { AdapterItem } from '../../adapter.ts';
import { detectFormat } from '../../reader/detect.ts';
import { readTraceItems } from '../../reader/read-traces.ts';

async function read(source: string | readonly object[]): Promise<AdapterItem[]> {
  const input =
    typeof source === 'string'
      ? source
      : Buffer.from(source.map((line) => JSON.stringify(line)).join('\n'));
  const items: AdapterItem[] = [];
  for await (const item of readTraceItems(input)) items.push(item);
  return items;
}
const traces = async (source: string | readonly object[]) =>
  (await read(source)).map((item) => {
    if (!item.ok) throw new Error(item.problem.message);
    return item.trace;
  });

describe('documented lines', () => {
  test('ast-seed-line: call and result are one tool step', async () => {
    const row = vectors.find(({ id }) => id === 'ast-seed-line')!;
    const lines = (row.input as { jsonl: string[] }).jsonl.map(
      (line) => JSON.parse(line) as object,
    );
    const [trace, ...rest] = await traces(lines);
    expect(rest).toEqual([]);
    const calls = toolCalls(trace!).map(({ callId, name, args, result }) => ({
      id: callId,
      tool: name,
      arguments: args,
      result,
    }));
    expect(calls).toEqual((row.expected as { calls: object[] }).calls);
    expect(trace).toMatchObject({
      source: { format: 'assay' },
      captured: { toolCalls: 'full', toolArgs: 'full', toolResults: 'full' },
    });
  });

  test("an error in a result is the call's error, and ids are typed", async () => {
    const [trace] = await traces([
      { type: 'tool_call', id: 1, tool: 'a', arguments: {} },
      { type: 'tool_call', id: '1', tool: 'b', arguments: {} },
      { type: 'tool_result', id: '1', error: 'denied' },
    ]);
    expect(toolCalls(trace!)).toMatchObject([
      { name: 'a', status: 'unknown' },
      { name: 'b', status: 'error', error: { message: 'denied' } },
    ]);
  });

  test('results without any call are not an empty trace', async () => {
    expect(await read([{ type: 'tool_result', id: 'x', result: 1 }])).toMatchObject([
      { ok: false, problem: { code: 'ASSAY_NO_CALLS' } },
    ]);
  });

  test('lines of several sessions are several traces', async () => {
    const line = (session_id: string, tool: string) => ({
      type: 'tool_call',
      session_id,
      tool,
      arguments: {},
    });
    const found = await traces([line('s1', 'a'), line('s2', 'b'), line('s1', 'c')]);
    expect(found.map((trace) => [trace.task?.id, toolNames(trace)])).toEqual([
      ['s1', ['a', 'c']],
      ['s2', ['b']],
    ]);
  });
});

describe('episodes', () => {
  const start = (episode_id: string) => ({
    type: 'episode_start',
    episode_id,
    timestamp: 1,
    input: { prompt: `ask ${episode_id}` },
  });
  const end = (episode_id: string) => ({
    type: 'episode_end',
    episode_id,
    timestamp: 9,
    final_output: 'done',
  });
  const call = (episode_id: string, step_id: string, tool_name: string) => ({
    type: 'tool_call',
    episode_id,
    step_id,
    tool_name,
    call_index: 0,
    args: {},
  });
  const step = (episode_id: string, step_id: string, idx: number) => ({
    type: 'step',
    episode_id,
    step_id,
    idx,
    kind: 'tool',
    name: `t${idx}`,
  });

  test('calls stand in the order of their steps, not of the file', async () => {
    const [trace] = await traces([
      start('e'),
      step('e', 'x', 0),
      step('e', 'y', 1),
      call('e', 'y', 'second'),
      call('e', 'x', 'first'),
      end('e'),
    ]);
    expect(toolNames(trace!)).toEqual(['first', 'second']);
    expect(trace).toMatchObject({ id: 'e', status: 'ok', final: { text: 'done' } });
  });

  test('an episode without its end was cut off', async () => {
    expect(await traces([start('e'), call('e', 's', 'a')])).toMatchObject([
      { status: 'incomplete', warnings: [{ code: 'ASSAY_NO_END' }] },
    ]);
  });

  test('a file without any call gets a warning, and its calls count as not captured', async () => {
    expect(await traces([start('e'), end('e')])).toMatchObject([
      { captured: { toolCalls: 'none' }, warnings: [{ code: 'ASSAY_NO_CALLS' }] },
    ]);
  });

  test('next to an episode with calls, one without made none', async () => {
    const [, second] = await traces([
      start('a'),
      call('a', 's', 't'),
      end('a'),
      start('b'),
      end('b'),
    ]);
    expect(second).toMatchObject({ captured: { toolCalls: 'full' }, warnings: [] });
  });
});

describe('older lines', () => {
  test('malformed tool calls are a problem of that line', async () => {
    expect(
      await read([
        { prompt: 'p', response: 'r', tool_calls: { tool_name: 'A' }, tool: 'x', args: {} },
      ]),
    ).toMatchObject([{ ok: false, problem: { code: 'TRACE_BAD_FIELD', line: 1 } }]);
  });

  test('a bare text pair has an answer and no captured calls', async () => {
    expect(await traces([{ prompt: 'p', response: 'r' }])).toMatchObject([
      { final: { text: 'r' }, captured: { toolCalls: 'none' } },
    ]);
  });
});

describeOutside('recordings of the original program', 'traces/assay/', (folder) => {
  test.each([
    ['ci.jsonl', [[], [], []]],
    ['hello.jsonl', [[]]],
    ['unsafe.jsonl', [['exec']]],
    ['demo-traces.jsonl', [['Search'], ['Calculate']]],
    ['edge_case.trace.jsonl', [['valid_tool', 'orphan_request', 'complex_tool']]],
    ['decision_event_basic.jsonl', [['assay_policy_decide']]],
  ])('%s', async (file, names) => {
    const found = await traces(`${folder}${file}`);
    expect(found.map(toolNames)).toEqual(names);
    expect(found.every(({ source }) => source.format === 'assay')).toBe(true);
  });

  test('an unanswered call keeps its error', async () => {
    const [trace] = await traces(`${folder}edge_case.trace.jsonl`);
    expect(toolCalls(trace!)[1]).toMatchObject({
      status: 'error',
      error: { message: 'timeout/no_response' },
    });
  });
});

test('its lines are not taken for another format', () => {
  expect(detectFormat('{"type":"tool_call","tool":"t","arguments":{}}')).toMatchObject({
    format: 'assay',
    candidates: [{}],
  });
});
