import { describe, expect, test } from 'vitest';
import { composite } from './composite.ts';
import { defineMetric } from './metric.ts';
import { registerMetric, resolveMetrics, toMetric } from './registry.ts';

const fixed = (name: string, value: number | null) =>
  defineMetric({ name, evaluate: () => ({ value, detail: {} }) });

describe('registerMetric', () => {
  test('makes a metric, a definition or a class known under the name given', () => {
    class Constant {
      name = 'ignored';
      value = 0.25;
      evaluate() {
        return { value: this.value, detail: {} };
      }
    }
    registerMetric('test_class', Constant);
    registerMetric('test_metric', fixed('x', 0.5));
    const values = resolveMetrics(['test_class', 'test_metric']).map((metric) =>
      metric.evaluate({}),
    );
    expect(values).toMatchObject([
      { name: 'test_class', value: 0.25 },
      { name: 'test_metric', value: 0.5 },
    ]);
  });

  test.each(['cost', 'test_metric'])('refuses the name %s, which is taken', (name) => {
    expect(() => registerMetric(name, fixed(name, 1))).toThrow(
      expect.objectContaining({ code: 'METRIC_INVALID' }),
    );
  });

  test('refuses values that cannot measure', () => {
    expect(() => toMetric('x', {} as never)).toThrow(
      expect.objectContaining({ code: 'METRIC_INVALID' }),
    );
  });
});

describe('resolveMetrics', () => {
  test('an unknown name is answered with the nearest one', () => {
    expect(() => resolveMetrics(['faithfullness'])).toThrow(
      /Unknown metric 'faithfullness'; did you mean 'faithfulness'/,
    );
  });

  test('parameters given with the name hold for every evaluation', () => {
    const [metric] = resolveMetrics([{ pii_leakage: { formula: 'max' } }]);
    expect(metric!.evaluate({ outcome: 'SSN 123-45-6789 belongs to Jane Doe' })).toMatchObject({
      value: expect.closeTo(0.02, 9),
    });
  });

  test('parameters nobody knows are refused at once', () => {
    expect(() => resolveMetrics([{ pii_leakage: { formul: 'max' } }])).toThrow(/formul/);
  });
});

describe('defineMetric', () => {
  test.each([
    ['NaN', { value: Number.NaN, detail: {} }],
    ['infinity', { value: Number.POSITIVE_INFINITY, detail: {} }],
    ['nothing', undefined],
    ['a text', { value: '1', detail: {} }],
    ['null without a reason', { value: null, detail: {} }],
  ])('turns %s into not measured, with a reason', (_, found) => {
    const metric = defineMetric({ name: 'x', evaluate: () => found as never });
    expect(metric.evaluate({})).toEqual({
      name: 'x',
      value: null,
      detail: { reason: expect.any(String) },
    });
  });

  test('waits for metrics that take their time', async () => {
    const metric = defineMetric({ name: 'x', evaluate: async () => ({ value: 1, detail: {} }) });
    expect(await metric.evaluate({})).toMatchObject({ value: 1 });
  });
});

describe('composite', () => {
  test('refuses raw numbers, whichever side is the better one', () => {
    const raw = defineMetric({
      name: 'stars',
      scale: 'raw',
      unit: 'stars',
      evaluate: () => ({ value: 4, detail: {} }),
    });
    expect(() => composite([raw])).toThrow(expect.objectContaining({ code: 'SPEC_VALUE' }));
  });

  test('is asynchronous if one of its metrics is', async () => {
    const slow = defineMetric({
      name: 'slow',
      evaluate: async () => ({ value: 0, detail: {} }),
    });
    expect(await composite([fixed('fast', 1), slow]).evaluate({})).toMatchObject({ value: 0.5 });
  });

  test.each(['cost', 'token_usage', 'latency', 'hallucination_rate', 'privacy_budget'])(
    'refuses %s, whose mean with a score says nothing',
    (name) => {
      expect(() => composite(['faithfulness', name])).toThrow(
        expect.objectContaining({ code: 'SPEC_VALUE' }),
      );
    },
  );
});
