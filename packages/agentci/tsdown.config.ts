import { defineConfig } from 'tsdown';
import { asciiOnly, leanYaml } from './lean-plugins.ts';
import { notedPackages } from './noted-packages.ts';

// All doors, one build: shared code is split into chunks, so that `--version` loads almost nothing and each command
// loads only its own part. Everything else is bundled; what stays a dependency (the TypeScript
// loader, the regular-expression and JSON Schema engines) is loaded only when a spec needs it.
// Commander can start subcommands as programs of their own; ours are modules, and the process module takes 7 ms to load.
const leanCommander = {
  name: 'lean-commander',
  transform: (code: string, id: string) =>
    /commander[\\/]lib[\\/]command\.js$/.test(id)
      ? code.replace(/require\('(node:)?child_process'\)/, '{}')
      : undefined,
};

// The model SDKs are built by tsdown.sdk.config.ts: together they would pull all of zod into the chunk every command loads.
// The lean way into the guard and the tap is built by tsdown.mcp.config.ts, as one file.
const builtApart = {
  name: 'built-apart',
  resolveId: (source: string) => {
    if (source.endsWith('/mcp/lean.ts')) return { id: './mcp.mjs', external: true };
    const sdk = /\/sdk\/([\w-]+)\.ts$/.exec(source);
    return sdk === null ? undefined : { id: `./sdk/${sdk[1]}.mjs`, external: true };
  },
};

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    stats: 'src/stats/index.ts',
    vitest: 'src/test-frameworks/vitest.ts',
    'node-test': 'src/test-frameworks/node-test.ts',
    cli: 'src/cli/bin.ts',
    'module-host': 'src/runners/module-host.mjs',
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
  plugins: [leanCommander, leanYaml, builtApart, asciiOnly, notedPackages('main')],
  // Every file the loader opens costs about a millisecond, so what is always needed together is one chunk: what all
  // commands need, what reading a spec needs, what a run needs. What explains a bad spec stays apart: a good one is read without it.
  outputOptions: {
    codeSplitting: {
      groups: [
        {
          name: 'core',
          test: /src[\\/]cli[\\/](start|main|io|annotation|user-error-text|spec-path|cli-command)\.ts|src[\\/]cli[\\/]commands[\\/]index\.gen\.ts|src[\\/]kit[\\/](diagnostic|escape|user-error|did-you-mean|char-ranges)\.ts|src[\\/]results[\\/]|node_modules[\\/]commander/,
          priority: 4,
        },
        {
          name: 'spec',
          test: /src[\\/]spec[\\/](load|count-checks)\.ts/,
          priority: 3,
        },
        { name: 'live', test: /src[\\/]engine[\\/]collect-live\.ts/, priority: 1 },
        { name: 'run', test: /src[\\/](cli[\\/](run-tests|test-flags)|engine[\\/]run-suite)\.ts/, priority: 2 },
      ],
    },
  },
  copy: [
    { from: '../../schema/*.json', to: 'dist/schema' },
    // Runs in the user's own programs, so it is as it was written, with no chunks of ours behind it.
    { from: 'src/capture/preload/register.cjs', to: 'dist' },
  ],
});
