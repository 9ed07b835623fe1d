import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/commands/index.gen.ts';

// The documentation site: it builds, has no broken links, can be searched, and shows its version.

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
let site: string;

afterAll(() => rmSync(site, { recursive: true, force: true }));
beforeAll(() => {
  site = mkdtempSync(join(tmpdir(), 'agentci-'));
  // A broken link fails the build.
  execFileSync(process.execPath, [join(root, 'scripts/docs.mjs'), '--out', site], {
    cwd: root,
    stdio: 'pipe',
  });
}, 180_000);

const page = (path: string) => readFileSync(join(site, path), 'utf8');

test('every page is there, READMEs as the pages of their folders', () => {
  const sources = readdirSync(join(root, 'docs'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress'));
  const built = sources.map((name) =>
    name.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'),
  );
  expect(built.length).toBeGreaterThan(150);
  expect(built.filter((name) => !existsSync(join(site, name)))).toEqual([]);
});

test('it can be searched without a server, and says its version', () => {
  const chunks = readdirSync(join(site, 'assets', 'chunks'));
  expect(chunks.some((name) => name.includes('localSearchIndex'))).toBe(true);
  const { version } = JSON.parse(readFileSync(join(root, 'packages/agentci/package.json'), 'utf8'));
  expect(page('index.html')).toContain(`v${version}`);
});

test('links between pages stay on the site, links to other files lead to the repository', () => {
  const guide = page('guide/spec.html');
  const links = [...guide.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href!);
  expect(
    links.filter((href) => /README|\.md(?:#|$)/.test(href) && !href.startsWith('https://')),
  ).toEqual([]);
});

test.each(Object.keys(COMMANDS))(
  'agentci %s has a page, linked from the list of commands',
  (name) => {
    expect(page(`cli/${name}.html`)).toContain(`agentci ${name}`);
    expect(page('cli/index.html')).toContain(`href="/cli/${name}"`);
  },
);
