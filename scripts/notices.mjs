// Writes THIRD_PARTY_NOTICES: the licenses of all bundled code. Part of the build.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = join(root, 'packages', 'agentci');
const dist = join(target, 'dist');

const noted = readdirSync(dist).filter((name) => name.endsWith('.packages.json'));
const folders = new Set(
  noted.flatMap((name) => JSON.parse(readFileSync(join(dist, name), 'utf8'))),
);
// The report page is built separately and included as one text.
const page = join(root, 'packages', 'report-ui');
for (const name of importsIn(join(page, 'src')))
  if (!name.startsWith('@agentci/')) folders.add(folderOf(name, page));

const packages = new Map();
for (const folder of folders) {
  const { name, version, license, author, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  packages.set(`${name}@${version}`, {
    name,
    version,
    license,
    author,
    repository,
    texts: textsIn(folder),
  });
}
const missing = [...packages].filter(
  ([, { license, texts }]) => license === undefined && texts.length === 0,
);
if (missing.length > 0) {
  console.error(`no licence found for ${missing.map(([id]) => id).join(', ')}`);
  process.exit(1);
}
const sections = [...packages.keys()].sort().map((id) => sectionOf(packages.get(id)));
writeFileSync(
  join(target, 'THIRD_PARTY_NOTICES'),
  `This package contains code of the following projects, under their own licences.\n\n${sections.join('\n')}`,
);
for (const name of noted) rmSync(join(dist, name));
console.log(`notices: ${packages.size} packages`);

function importsIn(folder) {
  const names = readdirSync(folder)
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/from '((?:@[^/']+\/)?[^./'][^/']*)/g),
    ]);
  return new Set(names.map(([, name]) => name));
}

function folderOf(name, from) {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(at) === at)
      return dirname(createRequire(join(from, 'x.js')).resolve(`${name}/package.json`));
  }
}

function textsIn(folder) {
  return readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
}

function sectionOf({ name, version, license, author, repository, texts }) {
  const who = typeof author === 'string' ? author : author?.name;
  const where = typeof repository === 'string' ? repository : repository?.url;
  const facts = [
    license && `License: ${license}`,
    who && `Author: ${who}`,
    where && `Source: ${where}`,
  ].filter(Boolean);
  return `${'='.repeat(80)}\n${name} ${version}\n${facts.join('\n')}\n${texts.map((text) => `\n${text}\n`).join('')}`;
}
