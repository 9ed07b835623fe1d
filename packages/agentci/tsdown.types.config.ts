import { defineConfig } from 'tsdown';

// The declarations are built apart: the chunks of the program are cut for speed, and declarations cut along the same lines
// would point at files that are not there.
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    stats: 'src/stats/index.ts',
    vitest: 'src/test-frameworks/vitest.ts',
    'node-test': 'src/test-frameworks/node-test.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: { emitDtsOnly: true },
  clean: false,
  outDir: 'dist',
  logLevel: 'error',
  fixedExtension: true,
});
