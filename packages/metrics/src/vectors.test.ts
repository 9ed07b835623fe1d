import { adapter } from '@agentci/formats';
import { maskPii } from '@agentci/lib/secrets';
import vectors from '@agentci/testing/vectors/metrics.json' with { type: 'json' };
import type { Trace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { composite } from './composite.ts';
import { defineMetric, type MetricCase, type MetricInput } from './metric.ts';
import { type CoordinationParts, coordinationScore } from './multi-agent/coordination.ts';
import {
  EmergentBehaviorDetector,
  type SwarmParts,
  swarmScore,
} from './multi-agent/emergent-behavior-detector.ts';
import type {
  AgentInteraction,
  AgentRole,
  ConflictEvent,
  HandoffEvent,
} from './multi-agent/inputs.ts';
import { InteractionAnalyzer } from './multi-agent/interaction-analyzer.ts';
import { multiAgentMetrics } from './multi-agent/multi-agent-metrics.ts';
import { faultTolerance, NetworkAnalyzer } from './multi-agent/network-analyzer.ts';
import { metricNames, resolveMetrics } from './registry.ts';

interface Vector {
  readonly id: string;
  readonly kind: string;
  readonly note: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
  /**
   * AgentUnit's own result, for options that reproduce it. Otherwise its mistakes are not repeated.
   */
  readonly compat_expected?: Readonly<Record<string, unknown>>;
}
const ALL = vectors as unknown as readonly Vector[];
const CATALOGUE = new Set(metricNames());

function traceOf(log: unknown): Trace {
  const [item] = [...(adapter.read([{ value: log }]) as Iterable<{ ok: boolean; trace?: Trace }>)];
  if (!item?.ok || item.trace === undefined) throw new Error('the vector is no log');
  return item.trace;
}

/** Compares numbers to nine digits and allows extra keys. */
function expectLike(actual: unknown, wanted: unknown, path: string): void {
  if (typeof wanted === 'number') expect(actual, path).toBeCloseTo(wanted, 9);
  else if (Array.isArray(wanted)) {
    expect(actual, path).toHaveLength(wanted.length);
    for (const [i, item] of wanted.entries())
      expectLike((actual as unknown[])[i], item, `${path}[${i}]`);
  } else if (typeof wanted === 'object' && wanted !== null) {
    for (const [key, value] of Object.entries(wanted)) {
      // A reason must be there, in any wording.
      if (key === 'reason')
        expect((actual as Record<string, unknown>)[key], path).toEqual(expect.any(String));
      else expectLike((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
    }
  } else expect(actual, path).toEqual(wanted);
}

const EMBEDDINGS = ['image_embedding', 'text_embedding', 'frame_embeddings'];

function inputOf({ input }: Vector): MetricInput {
  const given = (input.case ?? {}) as MetricCase;
  const embeddings = Object.fromEntries(
    Object.entries(input).filter(([key]) => EMBEDDINGS.includes(key)),
  );
  return {
    case: { ...given, metadata: { ...given.metadata, ...embeddings } },
    ...(input.trace ? { trace: traceOf(input.trace) } : {}),
    outcome: input.outcome,
    params: (input.config ?? {}) as Record<string, unknown>,
  };
}

const budgetInputs = (input: Vector['input']): MetricInput[] =>
  (input.evaluations as { epsilons: unknown[] }[]).map(({ epsilons }) => ({
    trace: traceOf({
      events: epsilons.map((privacy_epsilon) => ({
        type: 'tool_call',
        payload: { name: 'q', privacy_epsilon },
      })),
    }),
  }));

describe('every metric gives the numbers of the catalogue', () => {
  test.each(
    ALL.filter(({ kind }) => CATALOGUE.has(kind) && kind !== 'privacy_budget').map((vector) => ({
      name: `${vector.id} ${vector.kind}`,
      vector,
    })),
  )('$name', async ({ vector }) => {
    const [metric] = resolveMetrics([vector.kind]);
    const output = await metric!.evaluate(inputOf(vector));
    expect(output.name).toBe(vector.kind);
    if (vector.expected.value === undefined) expect(output.value).toBeLessThan(1);
    else expectLike(output.value, vector.expected.value, 'value');
    expectLike(output.detail, vector.expected.detail, 'detail');
    if (output.value === null) expect(output.detail.reason).toEqual(expect.any(String));
  });

  test.each(ALL.filter(({ kind }) => kind === 'privacy_budget'))(
    '$id privacy_budget over a run, in any order',
    async ({ input, expected }) => {
      const [metric] = resolveMetrics([{ privacy_budget: input.config as object }]);
      const inputs = budgetInputs(input);
      for (const order of [
        inputs,
        inputs.toReversed(),
        inputs.map((each) => metric!.keep!(each)),
      ]) {
        const output = await metric!.evaluateSuite!(order);
        expectLike(output.value, expected.value, 'value');
        expectLike(output.detail, expected.detail, 'detail');
      }
    },
  );

  test.each(ALL.filter(({ kind }) => kind === 'privacy_budget'))(
    '$id privacy_budget with compat: agentunit also has the running results',
    async ({ input, expected, compat_expected }) => {
      const [metric] = resolveMetrics([
        { privacy_budget: { ...(input.config as object), compat: 'agentunit' } },
      ]);
      const output = await metric!.evaluateSuite!(budgetInputs(input));
      expectLike(output.value, expected.value, 'value');
      expectLike(output.detail.results, compat_expected!.results, 'results');
    },
  );
});

type Run = (input: Vector['input']) => unknown;

const OTHERS: Readonly<Record<string, Run>> = {
  composite: (input) => {
    const parts = (
      input.results as { name: string; value: number | null; detail: Record<string, unknown> }[]
    ).map(({ name, value, detail }) => defineMetric({ name, evaluate: () => ({ value, detail }) }));
    return composite(parts).evaluate({});
  },
  'coordination_efficiency.weights': (input) => ({
    value: coordinationScore(input as unknown as CoordinationParts),
  }),
  'swarm_intelligence.weights': (input) => ({ value: swarmScore(input as unknown as SwarmParts) }),
  'network_fault_tolerance.formula': ({ density, bottleneck_count, agents }) => ({
    value: faultTolerance({
      density: density as number,
      bottlenecks: bottleneck_count as number,
      agents: agents as number,
    }),
  }),
  interaction_analyzer: ({ interactions }) => {
    const analyzer = new InteractionAnalyzer(interactions as AgentInteraction[]);
    return {
      communication_efficiency: analyzer.calculateCommunicationEfficiency(),
      load_balance: analyzer.calculateLoadBalance(),
      agent_activity: analyzer.agentActivity,
    };
  },
  interaction_entropy: ({ interactions }) => ({
    entropy_bits: new EmergentBehaviorDetector(
      interactions as AgentInteraction[],
    ).calculateEntropy(),
  }),
  'multiagent.calculate_all': ({ interactions, handoffs, conflicts, agent_roles }) =>
    multiAgentMetrics({
      interactions: interactions as AgentInteraction[],
      handoffs: handoffs as HandoffEvent[] | undefined,
      conflicts: conflicts as ConflictEvent[] | undefined,
      agentRoles: agent_roles as Record<string, AgentRole>,
    }),
  network_analyzer: ({ adjacency, agents, hub_threshold }) => {
    const network = new NetworkAnalyzer(adjacency as Record<string, string[]>, agents as string[]);
    return {
      density: network.calculateDensity(),
      centralization: network.calculateCentralization(),
      clustering_coefficient: network.calculateClusteringCoefficient(),
      hub_agents: network.findHubAgents(hub_threshold as number),
      bottleneck_agents: network.findBottleneckAgents(),
      fault_tolerance: network.calculateFaultTolerance(),
      avg_path_length: network.calculateAvgPathLength(),
    };
  },
  'pii.mask': ({ value }) => ({ masked: maskPii(value as string) }),
  'registry.defaults': ({ names }) => ({
    names: resolveMetrics(names as null).map((metric) => metric.name),
  }),
  'registry.resolve': ({ names }) => {
    try {
      return { names: resolveMetrics(names as string[]).map((metric) => metric.name) };
    } catch (error) {
      return { error: 'Error', message: (error as Error).message.split(';')[0] };
    }
  },
};

describe('the rest of the catalogue', () => {
  test.each(
    ALL.filter(({ kind }) => !CATALOGUE.has(kind)).map((vector) => ({
      name: `${vector.id} ${vector.kind}`,
      vector,
    })),
  )('$name', async ({ vector }) => {
    const run = OTHERS[vector.kind];
    if (run === undefined) throw new Error(`no test knows ${vector.kind}`);
    expectLike(await run(vector.input), vector.expected, vector.kind);
  });
});
