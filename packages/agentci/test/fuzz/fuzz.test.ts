import { expect, test } from 'vitest';
import { fuzzRecordings } from './fuzz-recordings.ts';

// The short version; `npm run fuzz` reads a hundred thousand.
test('2,000 mutated recordings are read without a crash, a hang or a trace outside the model', {
  timeout: 120_000,
}, async () => {
  const report = await fuzzRecordings({ count: 2000, seed: 7 });
  expect(report.broken).toEqual([]);
  expect(report.traces).toBeGreaterThan(200);
  expect(report.problems).toBeGreaterThan(200);
});
