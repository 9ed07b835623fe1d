import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = join(dirname(fileURLToPath(import.meta.url)), 'dist');

/** A build plugin that notes which packages' code went into the bundle, for scripts/notices.mjs. */
export const notedPackages = (name: string) => ({
  name: 'noted-packages',
  generateBundle: (_: unknown, bundle: Readonly<Record<string, object>>) => {
    const folders = new Set<string>();
    for (const chunk of Object.values(bundle)) {
      const modules = 'moduleIds' in chunk ? (chunk.moduleIds as readonly string[]) : [];
      for (const id of modules) {
        const folder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(
          id.replace(/^\0/, ''),
        )?.[0];
        if (folder !== undefined) folders.add(folder);
      }
    }
    // The types are built apart from the code, and hold no code of others.
    if (folders.size === 0) return;
    mkdirSync(DIST, { recursive: true });
    writeFileSync(join(DIST, `${name}.packages.json`), JSON.stringify([...folders].sort()));
  },
});
