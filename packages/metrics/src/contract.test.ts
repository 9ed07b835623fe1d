import { existsSync, readFileSync } from 'node:fs';
import { parseSpec } from '@agentci/spec';
import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { METRICS } from './index.gen.ts';
import type { Metric, MetricInput, MetricOutput } from './metric.ts';

const ALL = METRICS.map((metric) => ({ name: metric.name, metric }));
const json = fc.jsonValue({ maxDepth: 3 });
const amount = fc.oneof(fc.double({ noNaN: true, min: 0, max: 1e6 }), fc.constant(0));
const agent = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const trace = fc
  .record(
    {
      query: fc.string(),
      answer: fc.string(),
      tool_calls: fc.array(
        fc.record({ name: fc.string({ minLength: 1 }), args: json, result: json }),
        {
          maxLength: 4,
        },
      ),
      llm_calls: fc.array(
        fc.record({
          model: fc.constantFrom('m', 'llama-3.1-8b'),
          input_tokens: fc.nat(),
          output_tokens: fc.nat(),
        }),
        { maxLength: 3 },
      ),
      context: fc.array(fc.string(), { maxLength: 3 }),
      interactions: fc.array(
        fc.record({ from_agent: agent, to_agent: agent, response_time: amount }),
        {
          maxLength: 12,
        },
      ),
      agent_roles: fc.dictionary(agent, fc.record({ authority_level: fc.nat(10) })),
      resources: fc.record({ energy_kwh: amount, cpu_percent: amount, memory_mb: amount }),
    },
    { requiredKeys: ['answer'] },
  )
  .map((form) => simpleTrace(form));
const input: fc.Arbitrary<MetricInput> = fc.record(
  {
    trace,
    outcome: json,
    case: fc.record(
      {
        query: fc.string(),
        expected_output: json,
        context: fc.array(fc.string()),
        metadata: fc.dictionary(fc.string(), json),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

function expectSound(metric: Metric, output: MetricOutput): void {
  expect(output.name).toBe(metric.name);
  if (output.value === null) expect(output.detail.reason).toEqual(expect.any(String));
  else {
    expect(Number.isFinite(output.value)).toBe(true);
    if (metric.scale === 'fraction') expect(output.value).toBeGreaterThanOrEqual(0);
    if (metric.scale === 'fraction') expect(output.value).toBeLessThanOrEqual(1);
  }
}

describe.each(ALL)('$name', ({ metric }) => {
  test('has nothing to measure in nothing: null with a reason', async () => {
    for (const empty of [
      {},
      { case: null, trace: null, outcome: null },
      { case: { metadata: null, context: null } },
    ]) {
      const output = await metric.evaluate(empty);
      expect(output).toMatchObject({
        name: metric.name,
        value: null,
        detail: { reason: expect.any(String) },
      });
    }
  });

  test('is within its bounds or explains why not, and is deterministic', async () => {
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        const output = await metric.evaluate(given);
        expectSound(metric, output);
        expect(await metric.evaluate(given)).toEqual(output);
      }),
      { numRuns: 60 },
    );
  });

  test('has a page with an example that loads', () => {
    const page = new URL(`../../../docs/metrics/${metric.name}.md`, import.meta.url);
    expect(existsSync(page)).toBe(true);
    const text = readFileSync(page, 'utf8');
    const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const { suite, diagnostics } = parseSpec(example, { file: `${metric.name}.yaml` });
      expect(diagnostics).toEqual([]);
      expect(JSON.stringify(suite?.queries[0]?.metrics)).toContain(metric.name);
    }
    for (const key of Object.keys(
      (metric.params?.() as { shape?: object } | undefined)?.shape ?? {},
    ))
      expect(text).toContain(`\`${key}\``);
  });
});
