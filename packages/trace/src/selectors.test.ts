import { describe, expect, test } from 'vitest';
import type { Trace } from './model.ts';
import {
  captures,
  contextOf,
  finalText,
  handoffs,
  llmCalls,
  queryText,
  toolCalls,
  toolNames,
} from './selectors.ts';
import { simpleTrace } from './simple.ts';

const trace = simpleTrace({
  answer: 'x',
  query: 'q',
  context: ['doc'],
  tool_calls: [
    { name: 'b', result: { n: 1 } },
    { name: 'a', result: 'text' },
    { name: 'b', result: null },
  ],
  llm_calls: [{ model: 'm' }],
  handoffs: [{ from: 'a', to: 'b' }],
});

describe('selectors', () => {
  test('give steps of a kind in their order', () => {
    expect(toolNames(trace)).toEqual(['b', 'a', 'b']);
    expect(toolCalls(trace).map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(llmCalls(trace)).toHaveLength(1);
    expect(handoffs(trace)).toMatchObject([{ to: 'b' }]);
  });

  test('context is documents, tool results and what the recorder wrote by hand', () => {
    expect(contextOf(trace)).toEqual(['doc', '{"n":1}', 'text']);
    expect(contextOf({ ...trace, steps: [], meta: { context: ['by hand', 5] } })).toEqual([
      'by hand',
    ]);
    expect(contextOf({ ...trace, steps: [], meta: { context: 'one' } })).toEqual(['one']);
    expect(contextOf(simpleTrace({ answer: 'x', tool_calls: [] }))).toBeUndefined();
  });

  test.each<{ final: Trace['final']; text: string | undefined }>([
    { final: undefined, text: undefined },
    { final: {}, text: undefined },
    { final: { text: '', data: 1 }, text: '' },
    {
      final: {
        parts: [
          { type: 'text', text: 'a' },
          { type: 'reasoning', text: 'no' },
          { type: 'text', text: 'b' },
        ],
      },
      text: 'a\nb',
    },
    { final: { parts: [{ type: 'json', data: 1 }], data: { a: 1 } }, text: '{"a":1}' },
    { final: { data: ['a', { b: 1 }, null] }, text: 'a\n{"b":1}\n' },
  ])('the text of $final is $text', ({ final, text }) => {
    const { final: _, ...rest } = trace;
    expect(finalText(final === undefined ? rest : { ...rest, final })).toBe(text);
  });

  test('the query is the last user message', () => {
    const say = (role: 'user' | 'assistant', text: string) => ({
      role,
      parts: [{ type: 'text' as const, text }],
    });
    const input = [say('user', 'first'), say('assistant', 'a'), say('user', 'second')];
    expect(queryText({ ...trace, task: { input } })).toBe('second');
    expect(queryText(simpleTrace('x'))).toBeUndefined();
  });

  test('captures says whether anything of a capability is there', () => {
    expect([captures(trace, 'toolCalls'), captures(trace, 'timing')]).toEqual([true, false]);
  });
});
