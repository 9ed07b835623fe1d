import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyFilters,
  countStatuses,
  NO_FILTERS,
  STATUSES,
} from '../../../report-ui/src/filters.ts';
import { histogram } from '../../../report-ui/src/histogram.ts';
import { parseRoute, queryHref } from '../../../report-ui/src/router.ts';
import { visibleRange } from '../../../report-ui/src/virtual-rows.ts';
import { visible } from '../../../report-ui/src/visible-text.ts';
import { sampleReport, sampleResult } from './support/sample-run.ts';

test.each([
  { hash: '', page: 'queries', id: '' },
  { hash: '#/charts', page: 'charts', id: '' },
  { hash: '#/q/a%2Fb', page: 'query', id: 'a/b' },
  { hash: '#/q/%E0%A4%A', page: 'query', id: '%E0%A4%A' },
  { hash: '#/unknown', page: 'queries', id: '' },
  { hash: '#/compare?before=r1', page: 'compare', id: '' },
])('"$hash" is page $page', ({ hash, page, id }) => {
  expect(parseRoute(hash)).toMatchObject({ page, id });
});

test('the address of any query leads back to it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (id) => {
      expect(parseRoute(queryHref(id))).toMatchObject({ page: 'query', id });
    }),
  );
});

test('values too close together to be divided share one bar', () => {
  expect(histogram([0, 1e-323])).toEqual({ centers: [0], counts: [2] });
  expect(histogram([3, 3])).toEqual({ centers: [3], counts: [2] });
});

test('a histogram counts every value once', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }),
      (values) => {
        const { centers, counts } = histogram(values.sort((a, b) => a - b));
        expect(counts.reduce((a, b) => a + b, 0)).toBe(values.length);
        expect(centers).toHaveLength(counts.length);
      },
    ),
  );
});

test('the rows drawn hold every row in sight and few others', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 10_000 }),
      fc.integer({ min: -600_000, max: 1000 }),
      (count, top) => {
        const { from, to } = visibleRange({ top, height: 900, rowHeight: 56, count });
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(count);
        expect(to - from).toBeLessThanOrEqual(900 / 56 + 27);
        const first = Math.ceil(-top / 56);
        if (first >= 0 && first < count && top < 900)
          expect(first >= from && first < to).toBe(true);
      },
    ),
  );
});

test.each([
  { text: 'a\u001b[31mb', shown: 'a\u241b[31mb' },
  { text: 'a\r\nb\tc', shown: 'a\nb\tc' },
  { text: '\u202eabc', shown: '[U+202E]abc' },
  { text: '<b>&amp;</b>', shown: '<b>&amp;</b>' },
])('hidden characters are shown as signs: $shown', ({ text, shown }) => {
  expect(visible(text)).toBe(shown);
});

describe('filters', () => {
  const { results } = sampleReport().run;

  test('the statuses part the list', () => {
    for (const layer of ['', 'correctness', 'path', 'cost'] as const) {
      const counts = countStatuses(results, layer);
      for (const status of STATUSES)
        expect(
          applyFilters(results, { ...NO_FILTERS, layer, statuses: new Set([status]) }),
        ).toHaveLength(counts[status]);
      expect(Object.values(counts).reduce((a, b) => a + b, 0)).toBe(results.length);
    }
  });

  test('sorting neither loses nor changes the results, and unknown values come last', () => {
    const before = results.map(({ id }) => id);
    const sorted = applyFilters(results, { ...NO_FILTERS, sort: 'cost' });
    expect(sorted.map(({ id }) => id).sort()).toEqual([...before].sort());
    expect(sorted.at(-1)?.id).toBe('outage');
    expect(results.map(({ id }) => id)).toEqual(before);
  });

  test('words are looked for in ids, tags, answers and findings, without regard to case', () => {
    const one = [
      sampleResult({
        id: 'Alpha',
        query: 'q',
        tags: ['Beta'],
        answer: 'Gamma',
        correctness: 'fail',
      }),
    ];
    for (const text of ['alpha', 'BETA gamma', 'missing from'])
      expect(applyFilters(one, { ...NO_FILTERS, text })).toHaveLength(1);
    expect(applyFilters(one, { ...NO_FILTERS, text: 'alpha delta' })).toHaveLength(0);
  });
});
