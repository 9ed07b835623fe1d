import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Packages whose tests start no process and open no socket; `npm run test:unit` runs these alone. */
const UNIT =
  '{lib,trace,stats,results,metrics,policy,formats,checks,reporters,spec,convert,lab}/src,run/src/{baseline,simulator},agentci/src/{import,report}';
const unit = [`packages/{${UNIT}}/**/*.test.ts`];
/** Builds the documentation site, so it belongs to `npm run check`. */
const site = 'packages/agentci/test/docs-site.test.ts';
/** The other packages: their tests start processes and servers, and leave nothing behind. */
const rooms = ['packages/*/src/**/*.test.ts'];

// Node reads a machine's extra certificates at every start, which takes longer than the start itself. The tests start
// thousands of programs that stay on this machine; npm, which does not, is given them back (test/support/npm.ts).
const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
if (certificates !== undefined) {
  process.env.AGENTCI_TEST_CERTIFICATES = certificates;
  delete process.env.NODE_EXTRA_CA_CERTS;
}

/**
 * Tests of programs share two cores with the programs they start, so one of thousands may run into a time limit. In CI such a
 * test is tried once more, and the report says so; on a desk it fails.
 */
const retry = process.env.CI ? 1 : 0;

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Forked processes: tests spawn agents and kill process groups, which threads would share.
    pool: 'forks',
    // Most tests wait for processes they started, so twice as many files as cores keep all cores busy.
    maxWorkers: 2 * availableParallelism(),
    // Concurrent tests mostly wait for time limits of programs.
    maxConcurrency: 12,
    // Files share their modules: loading them anew for each of five hundred takes longer than many of the tests.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'unit', include: unit } },
      { extends: true, test: { name: 'rooms', include: rooms, exclude: unit, retry } },
      {
        extends: true,
        test: {
          name: 'e2e',
          retry,
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...rooms, site, '**/node_modules/**', '**/dist/**'],
        },
      },
      { extends: true, test: { name: 'site', include: [site] } },
    ],
  },
});
