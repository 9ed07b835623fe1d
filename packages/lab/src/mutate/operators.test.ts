import { parseSpec } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { simpleTrace, validateTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mutateSuite } from './mutate-suite.ts';
import type { Operator } from './operator.ts';
import { OPERATORS } from './operators/index.gen.ts';
import { planMutants } from './plan-mutants.ts';

/** A run that every operator can change. */
const GOOD = {
  id: 'order',
  query: 'Where is my order?',
  answer: 'Order 17 is on its way and will arrive on 24 May.',
  tool_calls: [
    { id: 'c1', name: 'find_order', args: { id: 17, exact: true, tags: ['new'] }, result: 'found' },
    { id: 'c2', name: 'track', args: { carrier: 'post' }, result: 'on its way' },
    { id: 'c3', name: 'track', args: { carrier: 'rail' }, result: 'on its way' },
  ],
  llm_calls: [{ model: 'gpt-5-mini', input_tokens: 120, output_tokens: 40, cost_usd: 0.002 }],
  handoffs: [{ from: 'desk', to: 'shipping' }],
  latency_ms: 800,
};
const JSON_ANSWER = { ...GOOD, answer: '{"order": 17, "state": "on its way"}' };
const OTHER = {
  id: 'refund',
  query: 'Refund it',
  answer: 'It was refunded.',
  tool_calls: [{ name: 'refund' }],
};

const suiteOf = (blocks: string) =>
  parseSpec(
    `version: 1\nagent: shop\nqueries:\n  - id: order\n    query: Where is my order?\n${blocks}  - {id: refund, query: Refund it, path: {max_tool_calls: 9}}\n`,
  ).suite!;
const recordingsOf = (good: object) =>
  new Map<string, Trace[]>([
    ['order', [simpleTrace(good)]],
    ['refund', [simpleTrace(OTHER)]],
  ]);
/** A check that no operator affects. */
const BLIND = '    path: {max_tool_calls: 99}\n';

const run = (blocks: string, operator: Operator, good: object = GOOD) =>
  mutateSuite({ suite: suiteOf(blocks), recordings: recordingsOf(good), operators: [operator] });
const ofOrder = <T extends { query: string }>(list: readonly T[]): T[] =>
  list.filter(({ query }) => query === 'order');

describe.each(OPERATORS.map((operator) => [operator.name, operator] as const))(
  '%s',
  (_, operator) => {
    const good = ['break-json', 'drop-field'].includes(operator.name) ? JSON_ANSWER : GOOD;

    test('goes unnoticed by a check of something else, and the line it advises notices it', async () => {
      const blind = await run(BLIND, operator, good);
      const survivors = ofOrder(blind.survivors);
      expect(survivors.length).toBeGreaterThan(0);
      for (const { what, advice } of survivors) {
        const caught = await run(`    ${advice!.layer}: {${advice!.yaml}}\n`, operator, good);
        expect(ofOrder(caught.left_out)).toEqual([]);
        expect(ofOrder(caught.survivors).map((survivor) => survivor.what)).not.toContain(what);
      }
    });

    test('makes valid traces that differ from the good one, the same for the same seed', () => {
      const trace = simpleTrace(good);
      const query = suiteOf(BLIND).queries[0]!;
      const around = { query, otherTools: ['refund', 'wipe'], otherAnswers: ['It was refunded.'] };
      const plan = (seed: number) =>
        planMutants(trace, around, { operators: [operator], seed, max: 100 }).planned;
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 0xffffffff }), (seed) => {
          const mutants = plan(seed).map(({ site }) => site.make());
          expect(mutants.length).toBeGreaterThan(0);
          for (const mutant of mutants) {
            expect(validateTrace(JSON.parse(JSON.stringify(mutant)))).toMatchObject({ ok: true });
            expect(mutant).not.toEqual(trace);
          }
          expect(plan(seed).map(({ site }) => site.make())).toEqual(mutants);
        }),
        { numRuns: 20 },
      );
      expect(trace).toEqual({ ...simpleTrace(good), id: trace.id });
    });

    test('has nothing to change in a run that has nothing', () => {
      const trace = simpleTrace({ query: 'q', tool_calls: [] });
      const query = suiteOf(BLIND).queries[0]!;
      const { planned } = planMutants(
        trace,
        { query, otherTools: [], otherAnswers: [] },
        { operators: [operator], seed: 1, max: 9 },
      );
      expect(planned).toEqual([]);
    });
  },
);
