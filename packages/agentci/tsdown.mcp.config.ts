import { defineConfig } from 'tsdown';
import { asciiOnly, leanYaml } from './lean-plugins.ts';
import { notedPackages } from './noted-packages.ts';

// What a client starts in place of a server: one file of its own, since the chunks that commands share hold much more.
export default defineConfig({
  entry: { mcp: 'src/cli/mcp/lean.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  minify: true,
  clean: false,
  outDir: 'dist',
  logLevel: 'error',
  fixedExtension: true,
  plugins: [leanYaml, asciiOnly, notedPackages('mcp')],
  outputOptions: {
    chunkFileNames: 'mcp-[name]-[hash].mjs',
    // Every file the loader opens takes a millisecond: what a guard or a tap always needs is one.
    codeSplitting: {
      groups: [
        {
          name: 'core',
          test: /src[\\/]cli[\\/]mcp[\\/]run-(?:guard|tap)\.ts/,
        },
      ],
    },
  },
});
