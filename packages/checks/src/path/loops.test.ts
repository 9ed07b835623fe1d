import { called, describeCheck } from '@agentci/testing/check-cases';
import { describe, expect, test } from 'vitest';
import { findCycles } from '../find-cycles.ts';
import { check } from './loops.ts';

const call = (name: string, x: number) => ({ name, args: { x } });
const calls = (...tool_calls: unknown[]) => ({ answer: 'ok', tool_calls });

describeCheck(check, {
  sample: {
    params: { cycle: 2 },
    keeps: called('a', 'b', 'c'),
    breaks: called('a', 'b', 'a', 'b'),
  },
  verdicts: [
    { when: 'one tool again and again', block: { loops: {} }, run: ['a', 'a'], status: 'warn' },
    {
      when: 'as often as allowed',
      block: { loops: { max: 1 } },
      run: ['a', 'b', 'a', 'b'],
      status: 'pass',
    },
    {
      when: 'a cycle longer than asked about',
      block: { loops: { cycle: 1 } },
      run: ['a', 'b', 'a', 'b'],
      status: 'pass',
    },
    {
      when: 'other arguments are another call',
      block: { loops: { by: 'call' } },
      run: calls(call('a', 1), call('a', 2)),
      status: 'pass',
    },
    {
      when: 'the same arguments',
      block: { loops: { by: 'call' } },
      run: calls(call('a', 1), call('b', 1), call('a', 1), call('b', 1)),
      status: 'warn',
    },
    {
      when: 'arguments that were not captured',
      block: { loops: { by: 'call' } },
      run: ['a', 'b'],
      status: 'skip: not_measured',
    },
  ],
  inPart: [{ block: { loops: {} }, run: ['a', 'a'], status: 'skip: not_measured' }],
  refuses: [{ cycle: 0 }, { cycle: 21 }, { max: -1 }, { by: 'args' }, 3],
});

describe('repetitions of cycles', () => {
  test.each([
    { words: '', longest: 3, repetitions: 0, at: [] },
    { words: 'abc', longest: 3, repetitions: 0, at: [] },
    { words: 'aaa', longest: 1, repetitions: 2, at: [1, 2] },
    { words: 'abab', longest: 2, repetitions: 1, at: [2] },
    { words: 'ababab', longest: 2, repetitions: 2, at: [2, 4] },
    { words: 'ababa', longest: 2, repetitions: 1, at: [2] },
    { words: 'abcabc', longest: 2, repetitions: 0, at: [] },
    { words: 'abcabc', longest: 3, repetitions: 1, at: [3] },
    { words: 'aaaa', longest: 2, repetitions: 3, at: [1, 2, 3] },
    { words: 'xxyxxy', longest: 3, repetitions: 2, at: [1, 4] },
    { words: 'abxab', longest: 2, repetitions: 0, at: [] },
  ])('$words with cycles up to $longest: $repetitions', ({ words, longest, repetitions, at }) => {
    expect(findCycles([...words], longest)).toEqual({ repetitions, at });
  });

  test('cycles of one are the seed formula: consecutive repeats', () => {
    for (let n = 0; n < 200; n++) {
      const words = Array.from({ length: 12 }, (_, i) => 'abc'[(n * 7 + i * i * (n % 5)) % 3]!);
      const repeats = words.filter((word, i) => i > 0 && word === words[i - 1]).length;
      expect(findCycles(words, 1).repetitions).toBe(repeats);
    }
  });

  test('a long run takes no time to speak of', () => {
    const started = performance.now();
    expect(
      findCycles(
        Array.from({ length: 100_000 }, () => 'a'),
        20,
      ).repetitions,
    ).toBe(99_999);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
