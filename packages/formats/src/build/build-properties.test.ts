import type { Step, Usage } from '@agentci/trace';
import { driftWarnings, toolCalls, validateTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildTrace } from './build-trace.ts';
import type { Draft, DraftStep } from './draft.ts';
import { foldDuplicates } from './fold.ts';
import { linkSteps } from './tree.ts';
import { sumUsage } from './usage.ts';

const RECORDS: Draft['records'] = { toolCalls: 'full', toolArgs: 'full', llmCalls: 'full' };
const build = (steps: readonly DraftStep[]) =>
  buildTrace({ source: { format: 'test' }, steps, records: RECORDS }, { value: undefined });

/** A random tree of spans with independent times. */
const spanTree: fc.Arbitrary<DraftStep[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('agent' as const, 'llm' as const, 'tool' as const, 'span' as const),
      below: fc.nat(),
      isRoot: fc.boolean(),
      name: fc.constantFrom('a', 'b', 'c'),
      failed: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((specs) =>
    specs.map(({ kind, below, isRoot, name, failed }, i): DraftStep => {
      const place = {
        key: `k${i}`,
        t0: 1000 + i * 10,
        t1: 1000 + i * 10 + 5,
        status: failed ? ('error' as const) : ('ok' as const),
        ...(i === 0 || isRoot ? {} : { parent: `k${below % i}` }),
      };
      if (kind === 'agent') return { kind, name, ...place };
      if (kind === 'span') return { kind, ...place };
      if (kind === 'tool') return { kind, name, callId: `c${i}`, args: { i }, ...place };
      const output = { role: 'assistant' as const, parts: [], calls: [{ id: `c${i + 1}`, name }] };
      return { kind, usage: { input: i, output: 1 }, output, ...place };
    }),
  );

describe('for any recording', () => {
  test('the order of spans in the file does not change the trace', () => {
    fc.assert(
      fc.property(
        spanTree.chain((steps) =>
          fc.tuple(fc.constant(steps), fc.shuffledSubarray(steps, { minLength: steps.length })),
        ),
        ([steps, shuffled]) => {
          expect(build(shuffled)).toEqual(build(steps));
        },
      ),
    );
  });

  test('the trace is one the model accepts, and parents stand before their children', () => {
    fc.assert(
      fc.property(spanTree, (steps) => {
        const trace = build(steps);
        expect(validateTrace(JSON.parse(JSON.stringify(trace)))).toMatchObject({ ok: true });
        const seen = new Set<string>();
        for (const { id, parent } of trace.steps) {
          if (parent !== undefined) expect(seen.has(parent)).toBe(true);
          seen.add(id);
        }
      }),
    );
  });

  test('folding is idempotent', () => {
    const outcome = (nodes: ReturnType<typeof linkSteps>) =>
      nodes.map(({ draft, isDropped, foldedInto }) => ({
        draft: { ...draft },
        isDropped,
        into: foldedInto?.draft.key,
      }));
    fc.assert(
      fc.property(spanTree, (steps) => {
        const nodes = linkSteps(steps);
        foldDuplicates(nodes);
        const once = outcome(nodes);
        foldDuplicates(nodes);
        expect(outcome(nodes)).toEqual(once);
      }),
    );
  });

  test('a second record of every call, by its id, adds no call', () => {
    fc.assert(
      fc.property(spanTree, (steps) => {
        const again = steps.flatMap((step, i): DraftStep[] =>
          step.kind === 'tool' ? [{ ...step, key: `again${i}`, parent: step.key! }] : [],
        );
        const names = (all: readonly DraftStep[]) =>
          toolCalls(build(all)).map(({ name, callId }) => `${name} ${callId}`);
        expect(names([...steps, ...again])).toEqual(names(steps));
      }),
    );
  });
});

describe('sums of usage', () => {
  const usage: fc.Arbitrary<Usage> = fc.record({ input: fc.nat(1000), output: fc.nat(1000) });

  test('do not depend on the order of the calls', () => {
    fc.assert(
      fc.property(fc.array(usage, { minLength: 1 }), (usages) => {
        expect(sumUsage(usages.toReversed())).toEqual(sumUsage(usages));
      }),
    );
  });

  test.each([
    { when: 'there is no call', usages: [], sum: undefined },
    { when: 'one call says nothing', usages: [{ input: 1 }, undefined], sum: undefined },
    {
      when: 'one call lacks its output',
      usages: [{ input: 1, output: 2 }, { input: 3 }],
      sum: { input: 4 },
    },
    {
      when: 'only one call had something from a cache',
      usages: [{ input: 5, cacheRead: 3 }, { input: 1 }],
      sum: { input: 6, cacheRead: 3 },
    },
  ])('are $sum when $when', ({ usages, sum }) => {
    expect(sumUsage(usages)).toEqual(sum);
  });

  test.each([
    { when: 'they agree', reported: { input: 90, output: 10 }, drifts: false },
    { when: 'they differ by two in a hundred', reported: { input: 92, output: 10 }, drifts: false },
    { when: 'they differ by more', reported: { input: 93, output: 10 }, drifts: true },
    {
      when: 'the report is less than its parts',
      reported: { input: 50, output: 10 },
      drifts: true,
    },
    { when: 'the report lacks a part', reported: { input: 93 }, drifts: false },
  ])('drift from the report: $drifts when $when', ({ reported, drifts }) => {
    const call: Step = {
      id: 's1',
      seq: 1,
      kind: 'llm',
      status: 'ok',
      usage: { input: 90, output: 10 },
    };
    expect(driftWarnings({ reported: { usage: reported }, steps: [call] }).length).toBe(
      drifts ? 1 : 0,
    );
  });
});
