import { defineConfig } from 'tsdown';
import { COMMON } from './build-options.ts';
import { importsByLoader } from './lean-plugins.ts';
import { notedPackages } from './noted-packages.ts';

// The command line, as CommonJS: Node 20 can keep compiled code of scripts, not of modules (src/cli/launch).
export default defineConfig([
  { ...COMMON, entry: { cli: 'src/cli/bin.ts' }, format: 'cjs', clean: false },
  {
    ...COMMON,
    entry: { start: 'src/cli/start.ts', help: 'src/cli/help.ts' },
    format: 'cjs',
    clean: false,
    plugins: [...COMMON.plugins, importsByLoader, notedPackages('cli')],
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
          {
            name: 'run',
            test: /src[\\/](cli[\\/](run-tests|test-flags)|engine[\\/]run-suite)\.ts/,
            priority: 2,
          },
        ],
      },
    },
  },
  // What a client starts in place of a server: chunks of its own, since those that commands share hold much more.
  {
    ...COMMON,
    entry: { mcp: 'src/cli/mcp/lean.ts' },
    format: 'cjs',
    clean: false,
    plugins: [...COMMON.plugins, importsByLoader, notedPackages('mcp')],
    outputOptions: {
      chunkFileNames: 'mcp-[name]-[hash].cjs',
      // What a guard or a tap always needs is one file.
      codeSplitting: {
        groups: [{ name: 'core', test: /src[\\/]cli[\\/]mcp[\\/]run-(?:guard|tap)\.ts/ }],
      },
    },
  },
]);
