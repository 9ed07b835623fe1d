import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsdown';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

/** Paths of each package's entry points, because TypeScript writes no declarations for node_modules. */
const entryPoints = Object.keys(read('package.json').devDependencies)
  .filter((name) => name.startsWith('@agentci/'))
  .flatMap((name) => {
    const folder = `../${name.replace('@agentci/', '')}`;
    return Object.entries<string>(read(`${folder}/package.json`).exports).map(([entry, file]) => [
      name + entry.slice(1),
      [`./packages/agentci/${folder}/${file}`],
    ]);
  });

// Declarations are built separately: the program's chunks are optimized for speed, and declarations
// split the same way would refer to missing files.
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    stats: 'src/stats.ts',
    vitest: 'src/test-frameworks/vitest.ts',
    'node-test': 'src/test-frameworks/node-test.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: { emitDtsOnly: true, compilerOptions: { paths: Object.fromEntries(entryPoints) } },
  // Used only by code that no exported type mentions.
  deps: { neverBundle: ['picocolors', '@eslint-community/regexpp'] },
  clean: false,
  outDir: 'dist',
  logLevel: 'error',
  fixedExtension: true,
});
