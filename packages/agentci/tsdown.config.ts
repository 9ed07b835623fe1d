import { defineConfig } from 'tsdown';

// Two doors, one build: shared code is split into chunks, so that `--version` loads almost nothing and each command
// loads only its own part. Everything but jiti is bundled: installing the package installs two packages.
export default defineConfig({
  entry: { index: 'src/index.ts', cli: 'src/cli/bin.ts', 'module-host': 'src/runners/module-host.mjs' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  minify: true,
  clean: true,
  outDir: 'dist',
  fixedExtension: true,
  copy: [{ from: '../../schema/*.json', to: 'dist/schema' }],
});
