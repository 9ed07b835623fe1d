// Copies the README into the package. Its relative links become links to the repository, because
// the package does not contain their files.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { homepage } = JSON.parse(
  readFileSync(join(root, 'packages', 'agentci', 'package.json'), 'utf8'),
);
const base = `${homepage.replace(/#.*$/, '')}/blob/main/`;
const text = readFileSync(join(root, 'README.md'), 'utf8').replace(
  /(!?\[[^\]]*\])\((?!https?:|mailto:|#)([^)\s]+)\)/g,
  (_, label, target) =>
    `${label}(${label.startsWith('!') ? base.replace('/blob/', '/raw/') : base}${target})`,
);
const withPictures = text.replace(
  /(src|srcset)="(?!https?:)([^"]+)"/g,
  (_, attribute, target) => `${attribute}="${base.replace('/blob/', '/raw/')}${target}"`,
);
writeFileSync(join(root, 'packages', 'agentci', 'README.md'), withPictures);
