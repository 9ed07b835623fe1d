import { asciiOnly, leanYaml } from './lean-plugins.ts';

// Commander can start subcommands as programs of their own; ours are modules, and the process module takes 7 ms to load.
const leanCommander = {
  name: 'lean-commander',
  transform: (code: string, id: string) =>
    /commander[\\/]lib[\\/]command\.js$/.test(id)
      ? code.replace(/require\('(node:)?child_process'\)/, '{}')
      : undefined,
};

// The model SDKs are built by tsdown.sdk.config.ts: together they would pull all of zod into the chunk every command loads.
const builtApart = {
  name: 'built-apart',
  resolveId: (source: string) => {
    const sdk = /\/sdk\/([\w-]+)\.ts$/.exec(source);
    return sdk === null ? undefined : { id: `./sdk/${sdk[1]}.mjs`, external: true };
  },
};

/** What the builds of the library and of the command line have in common. */
export const COMMON = {
  platform: 'node',
  target: 'node20',
  // tsdown.types.config.ts writes the declarations.
  dts: false,
  minify: true,
  outDir: 'dist',
  logLevel: 'error',
  fixedExtension: true,
  plugins: [leanCommander, leanYaml, builtApart, asciiOnly],
} as const;
