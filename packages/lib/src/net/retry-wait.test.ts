import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryDelay } from './retry-wait.ts';

test.each([
  { attempt: 0, chance: 0.5, ms: 1000 },
  { attempt: 1, chance: 0.5, ms: 2000 },
  { attempt: 2, chance: 0.5, ms: 4000 },
  { attempt: 0, chance: 0, ms: 800 },
  { attempt: 0, chance: 1, ms: 1200 },
  { attempt: 20, chance: 0.5, ms: 120_000 },
  { attempt: 0, chance: 0.5, after: 0, ms: 0 },
  { attempt: 3, chance: 0.5, after: 250, ms: 250 },
  { attempt: 0, chance: 0.5, after: 7000, ms: 7000 },
  { attempt: 0, chance: 0.5, after: 600_000, ms: 120_000 },
])(
  'try $attempt by chance $chance, asked for $after ms: $ms ms',
  ({ attempt, chance, after, ms }) => {
    expect(retryDelay(attempt, after, () => chance)).toBeCloseTo(ms, 9);
  },
);

test('a wait is the requested one, else within a fifth of the doubling, and at most two minutes', () => {
  const retryAfter = fc.option(fc.nat(10_000_000), { nil: undefined });
  fc.assert(
    fc.property(
      fc.nat(40),
      retryAfter,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, after, chance) => {
        const delay = retryDelay(attempt, after, () => chance);
        const doubled = 1000 * 2 ** attempt;
        if (after !== undefined) expect(delay).toBe(Math.min(after, 120_000));
        else expect(delay).toBeGreaterThanOrEqual(Math.min(0.8 * doubled, 120_000));
        expect(delay).toBeLessThanOrEqual(Math.min(after ?? 1.2 * doubled, 120_000));
      },
    ),
  );
});
