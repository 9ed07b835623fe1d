import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MutationResult } from '@agentci/results';
import { cliProcess } from '@agentci/testing/cli';
import { ROOT } from '@agentci/testing/node';
import { expect, test } from 'vitest';

// Users copy the demo specs, so their checks must notice every mutant, whatever the seed.

const newestBaseline = (demo: string): string => {
  const [agent] = readdirSync(join(ROOT, 'demos', demo, 'baselines'));
  const version = readdirSync(join(ROOT, 'demos', demo, 'baselines', agent!))
    .sort()
    .at(-1)!;
  return join('baselines', agent!, version);
};

test.each([
  { demo: 'rag', atLeast: 100 },
  { demo: 'support-router', atLeast: 300 },
  { demo: 'dev-agent', atLeast: 60 },
  { demo: 'incident', atLeast: 4 },
])(
  '$demo notices every change that one of its checks is meant to catch',
  async ({ demo, atLeast }) => {
    for (const seed of ['0', '1']) {
      const args = [
        'mutate',
        '--traces',
        newestBaseline(demo),
        '--budget',
        '100000',
        '--seed',
        seed,
        '--json',
      ];
      const { stdout, stderr } = await cliProcess(args, { cwd: join(ROOT, 'demos', demo) });
      if (stdout === '') throw new Error(stderr);
      const { meant, survivors, left_out, not_tried } = JSON.parse(stdout) as MutationResult;
      const missed = survivors
        .filter((survivor) => survivor.meant)
        .map(({ query, what }) => `${query}: ${what}`);
      expect({ missed, left_out, not_tried }).toEqual({ missed: [], left_out: [], not_tried: 0 });
      expect(meant.noticed).toBe(meant.mutants);
      expect(meant.mutants).toBeGreaterThanOrEqual(atLeast);
    }
  },
);
