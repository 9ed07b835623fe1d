import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsdown';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

/** Where each door is: TypeScript writes no declarations of what it finds in node_modules, linked or not. */
const doors = Object.keys(read('package.json').devDependencies)
  .filter((name) => name.startsWith('@agentci/'))
  .flatMap((name) => {
    const folder = `../${name.replace('@agentci/', '')}`;
    return Object.entries<string>(read(`${folder}/package.json`).exports).map(([door, file]) => [
      name + door.slice(1),
      [`./packages/agentci/${folder}/${file}`],
    ]);
  });

// The declarations are built apart: the chunks of the program are cut for speed, and declarations cut along the same lines
// would point at files that are not there.
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
  dts: { emitDtsOnly: true, compilerOptions: { paths: Object.fromEntries(doors) } },
  // Of code behind the doors that no exported type names.
  deps: { neverBundle: ['picocolors', '@eslint-community/regexpp'] },
  clean: false,
  outDir: 'dist',
  logLevel: 'error',
  fixedExtension: true,
});
