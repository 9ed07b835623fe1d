import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ValueSchema } from '@agentci/lib/values';
import { valueIssues } from '@agentci/lib/values';
import { LAYERS } from '@agentci/results';
import { toZod } from '@agentci/testing/zod-oracle';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { QUERY_KEYS, ROOT_KEYS, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS } from './layer-keys.ts';
import { RUNNER_SCHEMAS } from './runner-config.ts';

const SAMPLE = fileURLToPath(new URL('../../../docs/sample_spec.yaml', import.meta.url));

const sampleText = readFileSync(SAMPLE, 'utf8');

/** Every schema of a spec, by its key. */
const SCHEMAS: readonly (readonly [string, ValueSchema])[] = [
  ...Object.entries({ ...ROOT_KEYS, ...SHARED_KEYS, ...QUERY_KEYS }),
  ...LAYERS.flatMap((layer) =>
    [...LAYER_KEYS[layer].values()].flatMap(({ key, schema, partialSchema }) => [
      [key, schema] as const,
      ...(partialSchema === undefined ? [] : [[key, partialSchema] as const]),
    ]),
  ),
  ...Object.values(RUNNER_SCHEMAS).map((schema) => ['runner', schema] as const),
];

/** Every value of a key in the sample spec, at any place. */
const samples = new Map<string, unknown[]>();
function gather(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) samples.set(key, [...(samples.get(key) ?? []), inner]);
    gather(inner);
  }
}
gather(load(sampleText));

const oddKey = fc.constantFrom('__proto__', 'constructor', 'toString', 'min', 'rule', 'x', '');
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    undefined,
    '',
    ' ',
    'x',
    'https://a',
    '/a',
    -1,
    0,
    0.5,
    1.5,
    2 ** 53,
    Number.NaN,
    -0,
  ),
  fc.constantFrom(Number.POSITIVE_INFINITY, true, [], {}, [null], [''], { min: 1 }, { rule: 'x' }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Changes a value in one place: replaces a part, removes a key, adds one. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return oddValue;
  const keys = Object.keys(value);
  const put = (key: string, inner: unknown): unknown => {
    const copy = structuredClone(value) as Record<string, unknown>;
    Object.defineProperty(copy, key, {
      value: inner,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return copy;
  };
  const without = (key: string): unknown =>
    Array.isArray(value)
      ? value.filter((_, i) => String(i) !== key)
      : Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  const inside = keys.map((key) =>
    mutated((value as Record<string, unknown>)[key]).map((inner) => put(key, inner)),
  );
  return fc.oneof(
    oddValue,
    ...inside,
    ...(keys.length === 0 ? [] : [fc.constantFrom(...keys).map(without)]),
    ...(Array.isArray(value)
      ? []
      : [fc.tuple(oddKey, oddValue).map(([key, inner]) => put(key, inner))]),
  );
}

describe.each(SCHEMAS)('the schema of %s', (key, schema) => {
  const written = (samples.get(key) ?? []).filter((value) => value !== null);
  const arbitrary = fc.oneof(oddValue, ...written.map(mutated));

  test('finds something wrong exactly where zod does, which passes over a key "__proto__"', () => {
    fc.assert(
      fc.property(arbitrary, (value) => {
        if (hasSpecialKey(value)) return;
        expect(valueIssues(schema, value).length === 0).toBe(
          toZod(schema).safeParse(value).success,
        );
      }),
      { numRuns: 300 },
    );
  });
});

function hasSpecialKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasSpecialKey);
}
