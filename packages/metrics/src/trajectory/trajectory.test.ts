import vectors from '@agentci/testing/vectors/layers.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countLoops } from './count-loops.ts';
import { type MatchMode, matchTools } from './match-tools.ts';
import { editDistance, sequenceEdit } from './sequence-edit.ts';
import { lcsLength, sequenceLcs } from './sequence-lcs.ts';
import { toolF1 } from './tool-f1.ts';
import { toolPrecision } from './tool-precision.ts';
import { toolRecall } from './tool-recall.ts';

interface Row {
  id: string;
  kind: string;
  note: string;
  input: {
    expected: string[];
    used: string[];
    p: string[];
    r: string[];
    sequence: string[];
    reference: string[];
    mode: MatchMode;
  };
  expected: {
    recall: number;
    precision: number;
    f1: number;
    lcs: number;
    edit: number;
    loops: number;
    matched: boolean;
  };
}
const rows = (kind: string): Row[] =>
  (vectors as unknown as Row[]).filter((row) => row.kind === kind);

test.each(rows('metric.tool_set'))('$id $note', ({ input, expected }) => {
  expect(toolRecall(input.expected, input.used)).toBeCloseTo(expected.recall, 6);
  expect(toolPrecision(input.expected, input.used)).toBeCloseTo(expected.precision, 6);
  expect(toolF1(input.expected, input.used)).toBeCloseTo(expected.f1, 6);
});
test.each(rows('metric.sequence'))('$id $note', ({ input, expected }) => {
  expect(sequenceLcs(input.p, input.r)).toBeCloseTo(expected.lcs, 6);
  expect(sequenceEdit(input.p, input.r)).toBeCloseTo(expected.edit, 6);
});
test.each(rows('metric.loop_count'))('$id $note', ({ input, expected }) => {
  expect(countLoops(input.sequence)).toBe(expected.loops);
});
test.each(rows('path.match_mode'))('$id $note', ({ input, expected }) => {
  expect(matchTools(input).matched).toBe(expected.matched);
});

const names = (maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength, size: 'max' });

function naiveTable(a: readonly string[], b: readonly string[], kind: 'lcs' | 'edit'): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (kind === 'edit' ? i + j : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const [diagonal, up, left] = [table[i - 1]![j - 1]!, table[i - 1]![j]!, table[i]![j - 1]!];
      let cell: number;
      if (kind === 'lcs') {
        if (isSame) {
          cell = diagonal + 1;
        } else {
          cell = Math.max(up, left);
        }
      } else {
        cell = Math.min(diagonal + Number(!isSame), up + 1, left + 1);
      }
      table[i]![j] = cell;
    }
  }
  return table[a.length]![b.length]!;
}

describe('sequences', () => {
  test('the fast algorithms give the numbers of the plain tables', () => {
    fc.assert(
      fc.property(names(150), names(150), (a, b) => {
        expect(lcsLength(a, b)).toBe(naiveTable(a, b, 'lcs'));
        expect(editDistance(a, b)).toBe(naiveTable(a, b, 'edit'));
      }),
      { numRuns: 300 },
    );
  });

  test('similarities are symmetric, between 0 and 1, and 1 exactly for equal sequences', () => {
    fc.assert(
      fc.property(names(40), names(40), (a, b) => {
        for (const similarity of [sequenceLcs, sequenceEdit]) {
          const value = similarity(a, b);
          expect(value).toBe(similarity(b, a));
          expect(value >= 0 && value <= 1).toBe(true);
          expect(value === 1).toBe(a.join() === b.join());
          expect(similarity(a, a)).toBe(1);
        }
      }),
    );
  });

  test('the edit distance keeps the triangle inequality', () => {
    fc.assert(
      fc.property(names(30), names(30), names(30), (a, b, c) => {
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      }),
    );
  });

  test('names like prototype keys are names', () => {
    expect(sequenceLcs(['__proto__', 'constructor'], ['constructor'])).toBeCloseTo(2 / 3);
    expect(editDistance(['toString'], ['__proto__'])).toBe(1);
  });

  test('two sequences of 5,000 calls take well under a second', () => {
    const a = Array.from({ length: 5_000 }, (_, i) => `tool${(i * 7919) % 5}`);
    const b = Array.from({ length: 5_000 }, (_, i) => `tool${(i * 104_729) % 7}`);
    const start = performance.now();
    sequenceLcs(a, b);
    sequenceEdit(a, b);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe('sets', () => {
  test('recall and precision are each other with the sides exchanged, unless one is empty', () => {
    const some = fc.array(fc.constantFrom('a', 'b', 'c', 'd', '__proto__'), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(some, some, (expected, used) => {
        expect(toolRecall(expected, used)).toBe(toolPrecision(used, expected));
        expect(toolF1(expected, used)).toBeCloseTo(toolF1(used, expected), 12);
      }),
    );
  });

  test('an added expected tool never lowers recall', () => {
    fc.assert(
      fc.property(names(6), names(6), (expected, used) => {
        expect(toolRecall(expected, [...used, 'a'])).toBeGreaterThanOrEqual(
          toolRecall(expected, used),
        );
      }),
    );
  });
});

describe('matchTools', () => {
  test.each([
    { mode: 'strict', used: ['a', 'b'], matched: true },
    { mode: 'strict', used: ['b', 'a'], matched: false },
    { mode: 'strict', used: ['a', 'b', 'b'], matched: false },
    { mode: 'unordered', used: ['b', 'a', 'a'], matched: true },
    { mode: 'unordered', used: ['a'], matched: false },
    { mode: 'subset', used: ['x', 'b', 'a'], matched: true },
    { mode: 'subset', used: ['a'], matched: false },
    { mode: 'superset', used: ['a'], matched: true },
    { mode: 'superset', used: [], matched: true },
    { mode: 'superset', used: ['a', 'x'], matched: false },
  ] as const)('$mode against [a, b]: $used gives $matched', ({ mode, used, matched }) => {
    expect(matchTools({ used, reference: ['a', 'b'], mode }).matched).toBe(matched);
  });

  test('the reason has the rule, then missing and extra tools with counts', () => {
    const { reason } = matchTools({
      used: ['x', 'x', 'a'],
      reference: ['a', 'b'],
      mode: 'unordered',
    });
    expect(reason).toMatchInlineSnapshot(
      `"unordered: the same set of tools; order and repeats do not count; missing 1: b; extra 1: x ×2"`,
    );
    expect(
      matchTools({ used: ['a', 'c'], reference: ['a', 'b', 'b'], mode: 'strict' }).reason,
    ).toMatchInlineSnapshot(
      `"strict: the same tools in the same order, as often; missing 1: b ×2; extra 1: c; call 2 is c, the reference has b"`,
    );
    for (const mode of ['strict', 'unordered', 'subset', 'superset'] as const) {
      expect(matchTools({ used: [], reference: [], mode }).reason.startsWith(`${mode}: `)).toBe(
        true,
      );
    }
  });

  test('the modes imply each other as sets do', () => {
    fc.assert(
      fc.property(names(8), names(8), (used, reference) => {
        const matched = (mode: MatchMode) => matchTools({ used, reference, mode }).matched;
        expect(matched('unordered')).toBe(matched('subset') && matched('superset'));
        if (matched('strict')) expect(matched('unordered')).toBe(true);
      }),
    );
  });

  test('1,000 calls of 5 tools are compared without trying every pairing', () => {
    const used = Array.from({ length: 1_000 }, (_, i) => `tool${i % 5}`);
    const reference = Array.from({ length: 1_000 }, (_, i) => `tool${(i * 3) % 5}`);
    const run = () => matchTools({ used, reference, mode: 'unordered' });
    run();
    const start = performance.now();
    expect(run().matched).toBe(true);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
