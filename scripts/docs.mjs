// The documentation site. `npm run docs` builds it into docs/.vitepress/dist with search, and fails
// at a broken link. `npm run docs -- --dev` serves it and reloads changes, `--out DIR` builds it
// elsewhere.
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, createServer } from 'vitepress';

const docs = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs');

if (process.argv.includes('--dev')) {
  const server = await createServer(docs);
  await server.listen();
  server.printUrls();
} else {
  const out = process.argv.indexOf('--out');
  const site = out < 0 ? join(docs, '.vitepress', 'dist') : process.argv[out + 1];
  await build(docs, out < 0 ? {} : { outDir: site });
  console.log(`the site is in ${relative(process.cwd(), site)}; npm run docs -- --dev serves it`);
}
