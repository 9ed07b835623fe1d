import { defineConfig } from 'tsdown';
import { notedPackages } from './noted-packages.ts';

// The SDKs a judge may need, each loaded only when its provider is called.
export default defineConfig({
  entry: ['../judge/src/sdk/*.ts'],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  minify: true,
  clean: false,
  outDir: 'dist/sdk',
  logLevel: 'error',
  fixedExtension: true,
  plugins: [notedPackages('sdk')],
});
