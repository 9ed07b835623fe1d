import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MetricOutput } from '../metric.ts';
import { metric as coordination } from './coordination-efficiency.ts';
import { multiAgentMetrics } from './multi-agent-metrics.ts';
import { NetworkAnalyzer } from './network-analyzer.ts';
import { metric as faultTolerance } from './network-fault-tolerance.ts';
import { metric as swarm } from './swarm-intelligence.ts';

const AGENTS = ['a', 'b', 'c', 'd'];
const agent = fc.constantFrom(...AGENTS);
const interaction = fc.record({
  from_agent: agent,
  to_agent: fc.oneof(agent, fc.uniqueArray(agent, { minLength: 1 })),
  interaction_type: fc.constantFrom(
    'request',
    'response',
    'delegation',
    'collaboration',
    'negotiation',
  ),
  message_type: fc.constantFrom('generic', 'plan'),
  success: fc.boolean(),
  response_time: fc.integer({ min: 0, max: 20 }),
});
const form = fc.record({
  interactions: fc.array(interaction, { minLength: 1, maxLength: 20 }),
  handoffs: fc.array(fc.record({ from: agent, to: agent })),
  conflicts: fc.array(
    fc.record({ resolved: fc.boolean(), resolution_time: fc.integer({ min: 0, max: 9 }) }),
  ),
});
const agent_roles = Object.fromEntries(
  AGENTS.map((name, i) => [name, { authority_level: 2 * i, can_delegate: i > 1 }]),
);
const traceOf = (given: object) => simpleTrace({ answer: 'done', agent_roles, ...given });

describe('any traffic between agents', () => {
  test('coordination and the network do not depend on the order of the messages', async () => {
    await fc.assert(
      fc.asyncProperty(form, fc.infiniteStream(fc.nat()), async (given, random) => {
        const keys = given.interactions.map(() => random.next().value as number);
        const shuffled = given.interactions.toSorted(
          (x, y) => keys[given.interactions.indexOf(x)]! - keys[given.interactions.indexOf(y)]!,
        );
        for (const metric of [coordination, faultTolerance]) {
          const before = await metric.evaluate({ trace: traceOf(given) });
          const after = await metric.evaluate({
            trace: traceOf({ ...given, interactions: shuffled }),
          });
          expect(after.value).toBeCloseTo(before.value!, 12);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('names mean nothing: other ones give the same numbers', async () => {
    const renamed = (text: string): string => text.replaceAll(/"([abcd])"/g, '"agent-$1"');
    await fc.assert(
      fc.asyncProperty(form, async (given) => {
        const other = JSON.parse(renamed(JSON.stringify({ ...given, agent_roles }))) as object;
        for (const metric of [coordination, faultTolerance, swarm]) {
          const before = await metric.evaluate({ trace: traceOf(given) });
          expect((await metric.evaluate({ trace: traceOf(other) })).value).toBeCloseTo(
            before.value!,
            12,
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  test('every score of the calculator is 0 to 1', () => {
    fc.assert(
      fc.property(form, (given) => {
        const handoffs = given.handoffs.map(({ from, to }) => ({ success: from !== to }));
        const {
          coordination: together,
          network,
          emergent,
        } = multiAgentMetrics({ ...given, handoffs, agentRoles: agent_roles });
        const {
          avg_handoff_time: _,
          conflict_rate: __,
          avg_resolution_time: ___,
          ...rates
        } = together;
        const scores = [rates, emergent, network].flatMap((part) => Object.entries(part));
        for (const [name, score] of scores) {
          if (typeof score !== 'number' || name === 'avg_path_length') continue;
          expect(score, name).toBeGreaterThanOrEqual(0);
          expect(score, name).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

/** All shortest paths by brute force. */
function meanPath(edges: readonly (readonly [string, string])[]): number | null {
  const distance = new Map(edges.map(([from, to]) => [`${from}${to}`, 1]));
  const at = (x: string, y: string): number => distance.get(`${x}${y}`) ?? Number.POSITIVE_INFINITY;
  for (const k of AGENTS)
    for (const i of AGENTS)
      for (const j of AGENTS) distance.set(`${i}${j}`, Math.min(at(i, j), at(i, k) + at(k, j)));
  const lengths = AGENTS.flatMap((i) =>
    AGENTS.flatMap((j) => (i !== j && Number.isFinite(at(i, j)) ? [at(i, j)] : [])),
  );
  return lengths.length === 0 ? null : lengths.reduce((a, b) => a + b) / lengths.length;
}

test('the average path length is that of Floyd and Warshall', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(agent, agent)), (edges) => {
      const adjacency = new Map(
        AGENTS.map((from) => [from, edges.filter(([x]) => x === from).map(([, to]) => to)]),
      );
      const found = new NetworkAnalyzer(adjacency, AGENTS).calculateAvgPathLength();
      const wanted = meanPath(edges);
      if (wanted === null) expect(found).toBeNull();
      else expect(found).toBeCloseTo(wanted, 12);
    }),
  );
});

test('a crowd too large to analyse is not measured, and soon', async () => {
  const crowd = Array.from({ length: 400 }, (_, i) => `agent-${i}`);
  const trace = simpleTrace({
    answer: 'done',
    interactions: crowd.map((from_agent) => ({ from_agent, to_agent: crowd })),
    agent_roles: Object.fromEntries(crowd.map((name) => [name, {}])),
  });
  const output = (await faultTolerance.evaluate({ trace })) as MetricOutput;
  expect(output).toMatchObject({
    value: null,
    detail: { reason: expect.stringContaining('pairs') },
  });
});
