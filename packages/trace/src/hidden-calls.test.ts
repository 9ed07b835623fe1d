import { describe, expect, test } from 'vitest';
import { toolCalls, toolNames } from './selectors.ts';
import { simpleTrace } from './simple.ts';

describe('calls under keys that are not read', () => {
  test.each([
    { when: 'the key is misspelt', record: { tool_cals: [{ name: 'rm' }] }, toolCalls: 'none' },
    { when: 'the key has another name', record: { calls: [{ name: 'rm' }] }, toolCalls: 'none' },
    {
      when: 'sub-agents have calls',
      record: { tool_calls: [], subagents: [{ tool_calls: [{ name: 'rm' }] }] },
      toolCalls: 'partial',
    },
    {
      when: 'steps are recorded',
      record: { tool_calls: [], steps: [{ tool: 'rm' }] },
      toolCalls: 'partial',
    },
    {
      when: 'they are deep in an unknown key',
      record: { tool_calls: [], run: { parts: [{ calls: [{ name: 'rm' }] }] } },
      toolCalls: 'partial',
    },
    {
      when: 'they are in the metadata',
      record: { tool_calls: [], metadata: { tool_calls: [{ name: 'rm' }] } },
      toolCalls: 'partial',
    },
    {
      when: 'they are in the answer',
      record: { tool_calls: [], answer: { text: 'x', tool_calls: [{ name: 'rm' }] } },
      toolCalls: 'partial',
    },
    {
      when: 'a call has no name',
      record: { tool_calls: [{ name: 'unknown' }] },
      toolCalls: 'partial',
    },
    {
      when: 'an unknown key holds a number',
      record: { tool_calls: [], steps: 3 },
      toolCalls: 'full',
    },
    {
      when: 'an unknown key has no calls in it',
      record: { tool_calls: [], score: { f1: 1 } },
      toolCalls: 'full',
    },
  ])('$toolCalls when $when', ({ record, toolCalls: level }) => {
    expect(simpleTrace({ answer: 'x', ...record }).captured.toolCalls).toBe(level);
  });
});

test("AgentCI 2.0's own names are read", () => {
  const trace = simpleTrace({
    input_query: 'q',
    final_answer: 'a',
    total_cost: 0.5,
    llm_call_count: 2,
    tool_calls: [],
  });
  expect(trace).toMatchObject({
    final: { text: 'a' },
    reported: { cost: { usd: 0.5 }, llmCalls: 2 },
    task: { input: [{ role: 'user', parts: [{ type: 'text', text: 'q' }] }] },
    warnings: [],
  });
});

describe('names of tools', () => {
  test.each([
    { name: 'mcp__fs__rm', is: 'rm', server: 'fs' },
    { name: 'functions.rm', is: 'rm', server: undefined },
    { name: 'functions.rm:0', is: 'rm', server: undefined },
    { name: 'functions.rm<|channel|>commentary', is: 'rm', server: undefined },
    { name: 'default_api.rm', is: 'rm', server: undefined },
    { name: 'default_api:rm', is: 'rm', server: undefined },
    { name: 'tools.rm', is: 'rm', server: undefined },
    { name: 'rm()', is: 'rm', server: undefined },
    { name: 'fs.rm', is: 'fs.rm', server: undefined },
    { name: 'rm', is: 'rm', server: undefined },
  ])('$name is $is', ({ name, is, server }) => {
    const [call] = toolCalls(simpleTrace({ answer: 'x', tool_calls: [{ name }] }));
    expect(call).toMatchObject({ name: is, ...(is === name ? {} : { rawName: name }) });
    expect(call?.server).toBe(server);
  });

  test('a parallel call is the calls inside it', () => {
    const uses = [
      { recipient_name: 'functions.ls', parameters: { at: '/' } },
      { recipient_name: 'functions.rm', parameters: {} },
    ];
    const trace = simpleTrace({
      answer: 'x',
      tool_calls: [{ name: 'multi_tool_use.parallel', args: { tool_uses: uses } }],
    });
    expect(toolNames(trace)).toEqual(['ls', 'rm']);
    expect(trace.captured.toolCalls).toBe('full');
  });

  test('a parallel call that cannot be read may have been anything', () => {
    const trace = simpleTrace({
      answer: 'x',
      tool_calls: [{ name: 'multi_tool_use.parallel', args: '{"tool_us' }],
    });
    expect(trace.captured.toolCalls).toBe('partial');
  });
});
