import { expect, test } from 'vitest';
import { fuzzRecordings } from './fuzz-recordings.ts';

// The short version. `npm run fuzz` reads a hundred thousand recordings.
test('2,000 mutated recordings are read without a crash, a hang, a trace outside the model or a call hidden without a word', {
  timeout: 120_000,
}, async () => {
  const report = await fuzzRecordings({ count: 2000, seed: 7 });
  expect(report.broken).toEqual([]);
  expect(report.hiding).toBeGreaterThan(20);
  expect(report.traces).toBeGreaterThan(200);
  expect(report.problems).toBeGreaterThan(200);
});
