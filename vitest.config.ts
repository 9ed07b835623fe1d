import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Processes, browsers and sockets on a shared CI machine: what fails twice is broken, what fails once was late.
    retry: process.env.CI ? 1 : 0,
    // Forked processes: tests spawn agents and kill process groups, which threads would share.
    pool: 'forks',
    // Most tests wait for processes they started: two at a time even where there are only two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
