// Checks the documentation: every link and path in backticks leads to a file, and every extension
// has a page. packages/agentci/test/docs.test.ts runs its YAML, JSON and commands.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const problems = [];
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'AGENTS.md',
  'SECURITY.md',
  ...markdownIn('docs'),
  ...markdownIn('demos'),
  ...markdownIn('bench'),
  ...markdownIn('packages').filter((page) => /^packages\/[^/]+\/README\.md$/.test(page)),
];

for (const page of pages) {
  const text = readFileSync(page, 'utf8');
  const prose = text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '));
  for (const [, target = '', anchor] of prose.matchAll(
    /\]\((?!https?:|mailto:)([^)#\s]+)?(?:#([^)]*))?\)/g,
  )) {
    const file = target === '' ? page : join(dirname(page), target);
    if (!existsSync(file)) say(page, prose, target, `links to ${target}, which does not exist`);
    else if (anchor && file.endsWith('.md') && !anchorsOf(file).has(anchor))
      say(page, prose, `#${anchor}`, `links to ${target}#${anchor}, but there is no such heading`);
  }
  // Paths from the root, as `packages/…/x.ts` or `docs/…`. Names with placeholders are ignored.
  for (const [, path] of prose.matchAll(
    /`((?:packages|docs|scripts|demos|bench|schema)\/[\w./-]+)`/g,
  )) {
    if (!existsSync(normalize(path))) say(page, prose, path, `names ${path}, which does not exist`);
  }
}

for (const layer of ['correctness', 'path', 'cost']) {
  for (const name of extensionsIn(`packages/checks/src/${layer}`))
    needPage(`docs/checks/${name.replaceAll('-', '_')}.md`, `${layer}.${name}`);
}
for (const { name } of readdirSync('packages/formats/src/formats', { withFileTypes: true }).filter(
  (it) => it.isDirectory(),
))
  needPage(`docs/adapters/${name}.md`, `adapter ${name}`);
for (const name of extensionsIn('packages/reporters/src', 'reporter'))
  needPage(`docs/reporters/${name}.md`, `reporter ${name}`);

if (problems.length > 0) {
  console.log(problems.join('\n'));
  process.exit(1);
}

/** Anchors of a page's headings, the same on GitHub and on the site. */
function anchorsOf(file) {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const slug = (title) =>
    title
      .toLowerCase()
      .replace(/[`*]/g, '')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s+/g, '-');
  return new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => slug(title)));
}

function needPage(page, what) {
  if (!existsSync(page)) problems.push(`${what} has no page ${page}`);
}

function extensionsIn(dir, symbol = '(check|setting)') {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.ts') && !name.includes('.test.') && !name.includes('.gen.'))
    .filter((name) =>
      new RegExp(`^export const ${symbol}\\b`, 'm').test(readFileSync(join(dir, name), 'utf8')),
    )
    .map((name) => name.slice(0, -3));
}

function markdownIn(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true })
    .map((name) => join(dir, String(name)))
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .sort();
}

function say(page, text, needle, what) {
  const line = text.slice(0, text.indexOf(needle)).split('\n').length;
  problems.push(`${page}:${line} ${what}`);
}
