import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { toZod } from '../../test/zod-oracle.ts';
import { accepts } from '../kit/accepts.ts';
import { loadCel } from '../kit/cel/load.ts';
import { valueIssues } from '../kit/value-issues.ts';
import type { ValueSchema } from '../kit/value-schema.ts';
import { METRIC_FACTS } from '../metrics/facts.gen.ts';
import { METRICS } from '../metrics/index.gen.ts';
import { LAYERS } from '../results/run-result.ts';
import { RUNNER_SCHEMAS } from '../runners/config.ts';
import { ExpertNeeded } from './expert.ts';
import { QUERY_KEYS, ROOT_KEYS, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS } from './layer-keys.ts';
import { loadSpec } from './load.ts';
import { parseSpec } from './parse-spec.ts';
import { type ParsedSpec, readSpec } from './read-spec.ts';
import { SpecError } from './spec-error.ts';

// A spec with expressions is read after the engine was loaded.
await loadCel();

const SAMPLE = fileURLToPath(new URL('../../../../docs/sample_spec.yaml', import.meta.url));
const BAD_SPECS = fileURLToPath(new URL('../../test/bad-specs/', import.meta.url));

const sampleText = readFileSync(SAMPLE, 'utf8');
const badFiles = readdirSync(BAD_SPECS).filter((name) => name.endsWith('.yaml'));

/** Every schema a spec is checked with, by the key it belongs to. */
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

/** Every value the sample spec writes under a key, wherever it is. */
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

/** Changes a value in one place: replaces a part, drops a key, adds one. */
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

  test('accepts nothing that zod refuses', () => {
    fc.assert(
      fc.property(arbitrary, (value) => {
        if (accepts(schema, value))
          expect(toZod(schema).safeParse(value).error?.issues ?? []).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

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

  test('refuses nothing that zod takes, but for keys that JavaScript treats as special', () => {
    fc.assert(
      fc.property(arbitrary, (value) => {
        if (!toZod(schema).safeParse(value).success || hasSpecialKey(value)) return;
        expect(accepts(schema, value)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

function hasSpecialKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasSpecialKey);
}

/** The reading without an expert, or undefined when it asked for one. */
function readAlone(text: string, file: string): ParsedSpec | undefined {
  try {
    return readSpec(text, { file });
  } catch (error) {
    if (error instanceof ExpertNeeded) return undefined;
    throw error;
  }
}

/** As text: a compiled policy holds functions, which are never equal. The hash of the spec is part of it. */
const seen = (parsed: ParsedSpec): string => JSON.stringify(parsed);

describe('a spec read without an expert', () => {
  test('the sample spec needs none, though it uses every key', () => {
    const alone = readAlone(sampleText, SAMPLE);
    expect(alone?.suite).toBeDefined();
    expect(seen(alone!)).toBe(seen(parseSpec(sampleText, { file: SAMPLE })));
  });

  test.each(badFiles)('%s is read the same, or not at all', (name) => {
    const file = join(BAD_SPECS, name);
    const text = readFileSync(file, 'utf8');
    const alone = readAlone(text, file);
    if (alone !== undefined) expect(seen(alone)).toBe(seen(parseSpec(text, { file })));
  });

  test('some bad specs do ask, and are then told everything', async () => {
    const asking = badFiles.filter((name) => {
      const file = join(BAD_SPECS, name);
      return readAlone(readFileSync(file, 'utf8'), file) === undefined;
    });
    expect(asking.length).toBeGreaterThan(20);
    for (const name of asking) {
      const file = join(BAD_SPECS, name);
      const expected = parseSpec(readFileSync(file, 'utf8'), { file }).diagnostics;
      const found = await loadSpec(file).catch((error: unknown) => error as SpecError);
      expect(found instanceof SpecError).toBe(
        expected.some(({ severity }) => severity === 'error'),
      );
      expect(found.diagnostics).toEqual(expected);
    }
  });

  test('changed anywhere, it is read the same, or not at all', () => {
    const sample = load(sampleText) as object;
    fc.assert(
      fc.property(mutated(sample), (changed) => {
        // JSON is YAML; what JSON cannot say becomes null, which is a mistake of its own.
        const text = JSON.stringify(changed) ?? 'null';
        const alone = readAlone(text, SAMPLE);
        if (alone !== undefined) expect(seen(alone)).toBe(seen(parseSpec(text, { file: SAMPLE })));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the facts of the metrics', () => {
  test('are those of the catalogue, for every metric', () => {
    const facts = METRICS.map(({ name, better, scale, params, scope }) => {
      const isBare = params === undefined || params().safeParse({}).success;
      return { name, better, scale, isBare, isOverall: scope === 'suite' };
    });
    expect([...METRIC_FACTS].sort(byName)).toEqual(facts.sort(byName));
  });
});

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1;
