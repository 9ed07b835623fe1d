import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { metric as carbon } from './carbon-emissions.ts';
import { metric as energy } from './energy-consumption.ts';

const call = (model: string, output_tokens?: number) => ({
  answer: 'x',
  llm_calls: [{ model, input_tokens: 10, output_tokens }],
});

describe('energy_consumption', () => {
  test('is estimated from output tokens if the model size is known, and reports that', () => {
    const trace = simpleTrace(call('llama-3.1-70b-instruct', 1000));
    expect(energy.evaluate({ trace })).toMatchObject({
      value: 1,
      detail: {
        energy_kwh: expect.closeTo((1000 * (8.91e-5 * 70 + 1.43e-3) * 1.2) / 1000, 12),
        method: expect.stringContaining('estimated'),
      },
    });
  });

  test.each([
    ['a model of unknown size', call('gpt-4o', 10), {}],
    ['a mixture of experts', call('mixtral-8x7b', 10), {}],
    ['unknown output tokens', call('llama-3.1-8b'), {}],
    ['a negative reading', { answer: 'x', resources: { energy_kwh: -1 } }, {}],
  ])('is not measured for %s', (_, form, params) => {
    expect(energy.evaluate({ trace: simpleTrace(form), params })).toMatchObject({ value: null });
  });

  test('takes the size from the spec if the name does not have it', () => {
    expect(
      energy.evaluate({ trace: simpleTrace(call('gpt-4o', 10)), params: { active_params_b: 50 } }),
    ).toMatchObject({
      value: 1,
    });
  });
});

describe('carbon_emissions', () => {
  const trace = simpleTrace({ answer: 'x', resources: { energy_kwh: 1 } });

  test('uses the intensity of a region', async () => {
    const norway = await carbon.evaluate({ trace, params: { region: 'NOR' } });
    const india = await carbon.evaluate({ trace, params: { region: 'IND' } });
    expect(norway.detail.carbon_kg).toBeLessThan(india.detail.carbon_kg as number);
    expect(norway.detail.grid_source).toContain('NOR');
  });

  test('a region nobody knows is not measured', async () => {
    expect(await carbon.evaluate({ trace, params: { region: 'XXX' } })).toMatchObject({
      value: null,
    });
  });
});
