import { defineConfig } from 'tsdown';
import { COMMON } from './build-options.ts';
import { notedPackages } from './noted-packages.ts';

// The library: what people import. Shared code is split into chunks, so that a door loads only its own part. Everything
// is bundled; what stays a dependency (the TypeScript loader, the regular-expression and JSON Schema engines) is loaded
// only when a spec needs it.
export default defineConfig({
  ...COMMON,
  entry: {
    index: 'src/index.ts',
    stats: 'src/stats/index.ts',
    vitest: 'src/test-frameworks/vitest.ts',
    'node-test': 'src/test-frameworks/node-test.ts',
    'module-host': 'src/runners/module-host.mjs',
  },
  format: 'esm',
  clean: true,
  plugins: [...COMMON.plugins, notedPackages('main')],
  copy: [
    { from: '../../schema/*.json', to: 'dist/schema' },
    // Runs in the user's own programs, so it is as it was written, with no chunks of ours behind it.
    { from: 'src/capture/preload/*.cjs', to: 'dist' },
    { from: 'src/capture/preload/path/node', to: 'dist/path' },
    // The program by its former name.
    { from: 'src/cli/launch/cli.mjs', to: 'dist' },
  ],
});
