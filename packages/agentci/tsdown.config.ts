import { defineConfig } from 'tsdown';
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

// The YAML library makes its schemas and the dumper's patterns when it is loaded; we use its events only, so the rest
// may go.
const leanYaml = {
  name: 'lean-yaml',
  transform: (code: string, id: string) =>
    /js-yaml[\\/]dist[\\/]js-yaml\.mjs$/.test(id)
      ? code.replace(/= (define\w+Tag\(|new Schema\(|new RegExp\(|YAML11_SCHEMA\.withTags\()/g, '= /* @__PURE__ */ $1')
      : undefined,
};

// The model SDKs are built by tsdown.sdk.config.ts: together they would pull all of zod into the chunk every command loads.
const sdksApart = {
  name: 'sdks-apart',
  resolveId: (source: string) => {
    const sdk = /\/sdk\/([\w-]+)\.ts$/.exec(source);
    return sdk === null ? undefined : { id: `./sdk/${sdk[1]}.mjs`, external: true };
  },
};

// A source with one letter beyond Latin-1 is kept at two bytes a letter, and takes longer to decode and to compile.
const asciiOnly = {
  name: 'ascii-only',
  generateBundle: (_options: unknown, bundle: Record<string, { type: string; code?: string }>) => {
    for (const output of Object.values(bundle)) {
      if (output.type === 'chunk' && output.code !== undefined)
        output.code = output.code.replace(
          /[\u0080-\uffff]/g,
          (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
    }
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
  plugins: [leanCommander, leanYaml, sdksApart, asciiOnly, notedPackages('main')],
  // Every file the loader opens costs about a millisecond, so what is always needed together is one chunk: what all
  // commands need, what reading a spec needs, what a run needs. What explains a bad spec stays apart: a good one is read without it.
  outputOptions: {
    codeSplitting: {
      groups: [
        {
          name: 'core',
          test: /src[\\/]cli[\\/](start|main|io|annotation|spec-path|cli-command)\.ts|src[\\/]cli[\\/]commands[\\/]index\.gen\.ts|src[\\/]kit[\\/](diagnostic|escape|user-error|did-you-mean|char-ranges)\.ts|src[\\/]results[\\/]|node_modules[\\/]commander/,
          priority: 2,
        },
        {
          name: 'spec',
          test: /node_modules[\\/]js-yaml[\\/]|src[\\/]layers[\\/]|src[\\/]spec[\\/](?!(full-expert|explain-value|metric-schema|json-schema|parse-spec|load-sync)\.ts)|src[\\/]trace[\\/](selectors|totals|model|known-calls)\.ts|src[\\/]kit[\\/](yaml|problems|hash|regex|glob|json-schema|text-fold|time-guard|json-limits|accepts|value-schema)[\w-]*\.ts|src[\\/]policy[\\/](?!explain|coverage|generate)|src[\\/]runners[\\/]config\.ts|src[\\/]metrics[\\/](trajectory[\\/]|facts|registered)/,
          priority: 1,
        },
        { name: 'run', test: /src[\\/](cli[\\/](run-tests|test-flags)|engine[\\/]run-suite)\.ts/, priority: 0 },
      ],
    },
  },
  copy: [
    { from: '../../schema/*.json', to: 'dist/schema' },
    // Runs in the user's own programs, so it is as it was written, with no chunks of ours behind it.
    { from: 'src/capture/preload/register.cjs', to: 'dist' },
  ],
});
