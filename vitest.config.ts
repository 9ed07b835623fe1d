import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Rooms whose tests start no process and open no socket; `npm run test:unit` runs these alone. */
const UNIT_ROOMS =
  '{kit,trace,stats,results,metrics,policy,adapters,layers,experiment,reporters,baseline,spec,importing,experimenting,mutating,reporting,convert,simulator}';
const unit = [`packages/agentci/src/${UNIT_ROOMS}/**/*.test.ts`];
/** The other rooms: their tests start processes and servers, and leave nothing behind. */
const rooms = ['packages/agentci/src/**/*.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Forked processes: tests spawn agents and kill process groups, which threads would share.
    pool: 'forks',
    // Most tests wait for processes they started: two at a time even where there are only two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // These share their modules: loading them anew for each of two hundred files takes longer than the tests.
      { extends: true, test: { name: 'unit', include: unit, isolate: false } },
      { extends: true, test: { name: 'rooms', include: rooms, exclude: unit, isolate: false } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...rooms, '**/node_modules/**', '**/dist/**'],
        },
      },
    ],
  },
});
