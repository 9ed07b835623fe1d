import { readFileSync } from 'node:fs';
import vectors from '@agentci/testing/vectors/prices.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { loadPrices, PRICES_VERSION, priceFromTable } from './prices.ts';

const { lookup, name, date } = await loadPrices();
const usage = { input: 1000, output: 500 };
const usd = (model: string, provider?: string) =>
  lookup({ model, usage, ...(provider === undefined ? {} : { provider }) })?.usd;

describe('the bundled prices', () => {
  test('are named with the installed version and its date', () => {
    const manifest = new URL(
      '../../../../node_modules/@pydantic/genai-prices/package.json',
      import.meta.url,
    );
    expect(JSON.parse(readFileSync(manifest, 'utf8')).version).toBe(PRICES_VERSION);
    expect(name).toBe(`genai-prices ${PRICES_VERSION} (${date})`);
    expect(lookup({ model: 'gpt-4o', usage })?.prices).toBe(name);
  });

  test.each([
    ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['openai/gpt-4o-mini', 'gpt-4o-mini'],
    ['openrouter/openai/gpt-4o-mini', 'gpt-4o-mini'],
    ['azure:gpt-4o-mini', 'gpt-4o-mini'],
    ['GPT-4o-mini', 'gpt-4o-mini'],
    ['gpt-4o-mini-our-deployment', 'gpt-4o-mini'],
    ['anthropic:claude-sonnet-4-20250514', 'claude-sonnet-4-0'],
    ['anthropic/claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['google/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ])('%s costs what %s costs', (model, same) => {
    expect(usd(model)).toBeGreaterThan(0);
    expect(usd(model)).toBeCloseTo(usd(same)!, 12);
  });

  test('the small model is not priced as the large one it is named after', () => {
    expect(usd('gpt-4o')! / usd('gpt-4o-mini-2024-07-18')!).toBeCloseTo(16.67, 1);
  });

  test.each([
    'no-such-model',
    '',
    'gpt',
    'gpt-99',
    'my-gpt-4o',
    '__proto__',
    'constructor',
    'x'.repeat(100_000),
    '///',
    'a:b:c',
    '-',
    '\0',
    'gpt-5-99',
  ])('no price is known for %.20s', (model) => {
    expect(lookup({ model, usage })).toBeUndefined();
  });

  test('input includes cached tokens, which are cheaper', () => {
    const cached = lookup({ model: 'gpt-4o-mini', usage: { ...usage, cacheRead: 1000 } })!.usd;
    expect(cached).toBeLessThan(usd('gpt-4o-mini')!);
    expect(cached).toBeGreaterThan(0);
  });

  test('counts that contradict each other have no price', () => {
    expect(
      lookup({ model: 'gpt-4o-mini', usage: { input: 1, output: 1, cacheRead: 5 } }),
    ).toBeUndefined();
  });

  test.each(['openai', 'OpenAI', 'openai.responses', 'my-gateway'])(
    'provider %s finds the model',
    (provider) => {
      expect(usd('gpt-4o-mini', provider)).toBeCloseTo(usd('gpt-4o-mini')!, 12);
    },
  );
});

describe('a table of the user', () => {
  const tablePerMillion = {
    'gpt-4': { input: 30, output: 60 },
    'gpt-4o': { input: 2.5, output: 10 },
    'gpt-4o-mini': { input: 0.15, output: 0.6 },
    local: { input: 0, output: 0 },
  };
  const cost = (model: string) =>
    priceFromTable({ tablePerMillion, model, tokensIn: 1_000_000, tokensOut: 0 });

  test.each([
    ['gpt-4o-mini-2024-07-18', 0.15],
    ['openai/gpt-4o-mini', 0.15],
    ['gpt-4o-2024', 2.5],
    ['gpt-4-turbo', 30],
    ['gpt-4.1', undefined],
    ['gpt-4oo', undefined],
    ['constructor', undefined],
    ['local', 0],
  ])('%s costs %s', (model, want) => {
    expect(cost(model)).toBe(want);
  });

  test.each(vectors)('$id', ({ input, expected }) => {
    const cost = priceFromTable({
      tablePerMillion: input.table_per_1m,
      model: input.model,
      tokensIn: input.tokens_in,
      tokensOut: input.tokens_out,
    });
    expect({ cost_usd: cost ?? null, unknown_model: cost === undefined }).toEqual(expected);
  });
});
