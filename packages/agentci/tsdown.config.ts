import { defineConfig } from 'tsdown';
import { notedPackages } from './noted-packages.ts';

// The model SDKs are built by tsdown.sdk.config.ts: together they would pull all of zod into the chunk every command loads.
const builtApart = {
  name: 'built-apart',
  resolveId: (source: string) => {
    const sdk = /\/sdk\/([\w-]+)\.ts$/.exec(source);
    return sdk === null ? undefined : { id: `./sdk/${sdk[1]}.mjs`, external: true };
  },
};

// The program and the library, as modules that share their chunks. Everything is bundled; the dependencies that stay (the
// TypeScript loader, the regular-expression and JSON Schema engines) are loaded only when a spec needs them.
export default defineConfig({
  entry: {
    cli: 'src/cli/bin.ts',
    index: 'src/index.ts',
    stats: 'src/stats.ts',
    vitest: 'src/test-frameworks/vitest.ts',
    'node-test': 'src/test-frameworks/node-test.ts',
    'module-host': '../run/src/runners/module-host.mjs',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // tsdown.types.config.ts writes the declarations.
  dts: false,
  minify: true,
  clean: true,
  outDir: 'dist',
  logLevel: 'error',
  fixedExtension: true,
  // Every file that Node opens costs about a millisecond, so modules that are always needed together share one.
  outputOptions: {
    codeSplitting: {
      groups: [
        {
          name: 'core',
          test: /src[\\/]cli[\\/](start|options)\.ts|src[\\/]cli[\\/]commands[\\/]index\.gen\.ts|node_modules[\\/]commander/,
          priority: 4,
        },
        { name: 'policy', test: /src[\\/]mcp-commands[\\/]run-(guard|tap)\.ts/, priority: 3 },
        { name: 'spec', test: /src[\\/]cli[\\/]commands[\\/]validate\.ts/, priority: 2 },
        {
          name: 'run',
          test: /src[\\/](test-command[\\/]run-tests|cli[\\/]test-flags|run[\\/]run-suite)\.ts/,
          priority: 1,
        },
      ],
    },
  },
  plugins: [builtApart, notedPackages('main')],
  copy: [
    { from: '../../schema/*.json', to: 'dist/schema' },
    // Runs in the user's programs, so it is copied unchanged and without chunks.
    { from: '../capture/src/preload/*.cjs', to: 'dist' },
    { from: '../capture/src/preload/path/node', to: 'dist/path' },
  ],
});
