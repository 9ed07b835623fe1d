import { seededRandom } from '@agentci/stats';
import { describe, expect, test } from 'vitest';
import { compareMetrics, type Observation } from './compare-metrics.ts';

type Side = ReadonlyMap<string, Observation>;

/** Draws random pairs and returns whether they settle the comparison. */
type Draw = (random: () => number, n: number) => { before: Side; after: Side };

const ROUNDS = 200;

function power(
  draw: Draw,
  n: number,
  metric: string,
  options: Parameters<typeof compareMetrics>[2],
): number {
  let settled = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const random = seededRandom(1000 * n + round);
    const { before, after } = draw(random, n);
    const found = compareMetrics(before, after, options).find((each) => each.metric === metric);
    if (found !== undefined && found.verdict !== 'inconclusive') settled++;
  }
  return settled / ROUNDS;
}

/** Verdicts that flip at these rates. */
const verdicts =
  (rates: { lost: number; won: number; pass: number }): Draw =>
  (random, n) => {
    const before = new Map<string, Observation>();
    const after = new Map<string, Observation>();
    for (let i = 0; i < n; i++) {
      const u = random();
      let [was, is] = [0, 0];
      if (u < rates.lost) was = 1;
      else if (u < rates.lost + rates.won) is = 1;
      else if (random() < rates.pass) [was, is] = [1, 1];
      before.set(`q${i}`, { verdicts: [was], metrics: new Map() });
      after.set(`q${i}`, { verdicts: [is], metrics: new Map() });
    }
    return { before, after };
  };

/** An observed run with exactly these rates. */
const seen = (n: number, lost: number, won: number, pass: number) => {
  const side = (of: (i: number) => number): Side =>
    new Map(
      Array.from({ length: n }, (_, i) => [`q${i}`, { verdicts: [of(i)], metrics: new Map() }]),
    );
  return {
    before: side((i) => {
      if (i < lost) return 1;
      if (i < lost + won) return 0;
      if (i < lost + won + pass) return 1;
      return 0;
    }),
    after: side((i) => {
      if (i < lost) return 0;
      if (i < lost + won) return 1;
      if (i < lost + won + pass) return 1;
      return 0;
    }),
  };
};

const gauss = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

describe('the number of queries that would settle it does, four times in five', () => {
  test.each([
    { what: 'lost 3 of 10, any loss counts', n: 10, lost: 3, won: 0, pass: 7, margin: 0 },
    {
      what: 'lost 3 and won 1 of 20, any loss counts',
      n: 20,
      lost: 3,
      won: 1,
      pass: 12,
      margin: 0,
    },
    { what: 'won 2 of 12, any loss counts', n: 12, lost: 0, won: 2, pass: 8, margin: 0 },
    { what: 'lost 2 of 8, five points allowed', n: 8, lost: 2, won: 0, pass: 4, margin: 0.05 },
    {
      what: 'lost and won 1 of 20, ten points allowed',
      n: 20,
      lost: 1,
      won: 1,
      pass: 12,
      margin: 0.1,
    },
  ])('$what', ({ n, lost, won, pass, margin }) => {
    const options = { maxDrop: { pass_rate: margin } };
    const { before, after } = seen(n, lost, won, pass);
    const needed = compareMetrics(before, after, options)[0]!.needed_pairs!;
    expect(needed).toBeGreaterThan(n);
    const draw = verdicts({ lost: lost / n, won: won / n, pass: pass / (n - lost - won) });
    expect(power(draw, Math.ceil(needed * 1.5), 'pass_rate', options)).toBeGreaterThan(0.8);
    expect(power(draw, Math.floor(needed / 1.5), 'pass_rate', options)).toBeLessThan(0.8);
  });

  test.each([
    { what: 'a price 60 % higher of 30 % allowed', mean: 1.6, sd: 0.6 },
    { what: 'a price 20 % lower', mean: 0.8, sd: 0.5 },
    { what: 'a price as it was', mean: 1, sd: 0.5 },
  ])('$what', ({ mean, sd }) => {
    const side = (value: (i: number) => number, n: number): Side =>
      new Map(
        Array.from({ length: n }, (_, i) => [
          `q${i}`,
          { verdicts: [], metrics: new Map([['cost_usd', [value(i)]]]) },
        ]),
      );
    const draw: Draw = (random, n) => ({
      before: side(() => 1, n),
      after: side(() => mean + sd * gauss(random), n),
    });
    // Twelve pairs with exactly this mean and standard deviation.
    const scale = sd * Math.sqrt(11 / 12);
    const small = {
      before: side(() => 1, 12),
      after: side((i) => mean + (i % 2 === 0 ? scale : -scale), 12),
    };
    const [found] = compareMetrics(small.before, small.after);
    expect(found!.verdict).toBe('inconclusive');
    const needed = found!.needed_pairs!;
    expect(power(draw, Math.ceil(needed * 1.5), 'cost_usd', {})).toBeGreaterThan(0.8);
    expect(power(draw, Math.floor(needed / 1.5), 'cost_usd', {})).toBeLessThan(0.8);
  });
});
