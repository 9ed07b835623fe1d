import { fileURLToPath } from 'node:url';
import { describeOutside } from '@agentci/testing/outside';
import { describe, expect, test } from 'vitest';
import { checkRemovals } from './evidence.ts';
import { UNKNOWABLE } from './unknowable.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

describe('a recording from which any one part was taken', () => {
  test('still shows the calls, or says that it does not show all of them', {
    timeout: 240_000,
  }, async () => {
    const { tried, lost, needed } = await checkRemovals(here('../../../testing/recordings'), 150);
    expect(lost).toEqual([]);
    expect(tried).toBeGreaterThan(3000);
    // An unused entry would hide the next bug.
    expect(UNKNOWABLE.filter((entry) => entry.isPublic !== true && !needed.has(entry))).toEqual([]);
  });
});

describeOutside('a public recording from which any one part was taken', 'traces', (folder) => {
  test('still shows the calls, or says that it does not show all of them', {
    timeout: 240_000,
  }, async () => {
    const { lost } = await checkRemovals(folder, 25);
    expect(lost).toEqual([]);
  });
});
