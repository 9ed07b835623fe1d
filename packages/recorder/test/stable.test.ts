import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { underTickingClock } from '../src/clock.ts';
import { stable, stableText } from '../src/stable.ts';
import { stableSpans } from '../src/stable-spans.ts';

describe('what differs from run to run', () => {
  test.each([
    {
      what: 'an id becomes its place in the order of ids, wherever it stands',
      given:
        '20261116T065012345001Z01a1e31f-133c-776c-8aed-8ac56dc17203 01A1E31F-133C-776C-8AED-8AC56DC17203',
      made: '20260105T090000000001Z00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000001',
    },
    {
      what: 'one time is one time in all three ways of writing it',
      given: '2026-11-16T06:50:12.345Z 1794811812345 20261116T065012345000Z',
      made: '2026-01-05T09:00:00.000Z 1767603600000 20260105T090000000000Z',
    },
    {
      what: 'a stack is cut, in text and in JSON',
      given: 'Error: no\\n    at run (file:///app/x.js:1:2)\\n    at main (y.js)\n    at z (z.js)',
      made: 'Error: no',
    },
    {
      what: 'a port is not part of a name',
      given: 'http://127.0.0.1:4711/v1',
      made: 'http://model.test/v1',
    },
    {
      what: 'other numbers and texts stay',
      given: 'order A-17 of 42, 1234567890',
      made: 'order A-17 of 42, 1234567890',
    },
  ])('$what', ({ given, made }) => {
    expect(stableText(given)).toBe(made);
  });

  test('times keep their order and their equality', () => {
    const start = Date.UTC(2026, 10, 16);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 20 }),
        (offsets) => {
          const times = stable(offsets.map((offset) => new Date(start + offset).toISOString()));
          for (const [i, a] of offsets.entries())
            for (const [j, b] of offsets.entries())
              expect(Math.sign(cmp(times[i]!, times[j]!))).toBe(Math.sign(a - b));
        },
      ),
    );
  });

  test('replacing twice changes nothing more', () => {
    const once = stableText('2026-11-16T06:50:12.345Z 01a1e31f-133c-776c-8aed-8ac56dc17203');
    expect(stableText(once)).toBe(once);
  });
});

const cmp = (a: string, b: string): number => {
  if (a < b) return -1;
  if (a > b) return 1;
  return 0;
};

test('no two times are equal under the ticking clock, and the real one comes back', async () => {
  const RealDate = Date;
  const times = await underTickingClock(async () => [Date.now(), new Date().getTime(), Date.now()]);
  expect(new Set(times).size).toBe(3);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(await underTickingClock(async () => new Date(5).getTime())).toBe(5);
  await expect(underTickingClock(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(Date).toBe(RealDate);
});

test('spans are timed by the order of their ids and of their ends: parents hold their children', () => {
  const span = (spanId: string) => ({
    spanId,
    startTimeUnixNano: '9',
    endTimeUnixNano: '9',
    events: [],
  });
  const request = {
    resourceSpans: [{ scopeSpans: [{ spans: [span('b'), span('c'), span('a')] }] }],
  };
  const times = stableSpans(request).resourceSpans[0]!.scopeSpans[0]!.spans.map(
    ({ spanId, startTimeUnixNano, endTimeUnixNano }) =>
      [spanId, startTimeUnixNano, endTimeUnixNano]
        .map((nanos, i) => (i === 0 ? nanos : nanos.slice(12, 13)))
        .join(' '),
  );
  expect(times).toEqual(['b 2 3', 'c 4 5', 'a 1 6']);
});
