// Fails if an installed package does not support our oldest Node: `latest` of many packages dropped
// Node 20.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const OLDEST = [20, 19, 0];
const refused = [];
for (const dir of installed('node_modules')) {
  const { name, version, engines } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  if (typeof engines?.node === 'string' && !accepts(engines.node))
    refused.push(`${name}@${version} wants node ${engines.node}`);
}
if (refused.length > 0) {
  console.log(`These packages refuse Node ${OLDEST.join('.')}:\n  ${refused.join('\n  ')}`);
  process.exit(1);
}

function* installed(root) {
  for (const entry of readdirSync(root)) {
    if (entry.startsWith('.')) continue;
    for (const dir of entry.startsWith('@')
      ? readdirSync(join(root, entry)).map((e) => join(root, entry, e))
      : [join(root, entry)]) {
      if (existsSync(join(dir, 'package.json'))) yield dir;
      if (existsSync(join(dir, 'node_modules'))) yield* installed(join(dir, 'node_modules'));
    }
  }
}

/** Enough of semver for `engines`: alternatives by `||`, comparators joined by spaces. */
function accepts(range) {
  return range.split('||').some((alternative) =>
    alternative
      .trim()
      .replace(/([<>=^~]+)\s+/g, '$1')
      .split(/\s+/)
      .every((comparator) => satisfies(comparator)),
  );
}

function satisfies(comparator) {
  const match = /^(>=|>|<=|<|\^|~|=)?v?(\d+|\*|x)(?:\.(\d+|\*|x))?(?:\.(\d+|\*|x))?/.exec(
    comparator,
  );
  if (!match || match[2] === '*' || match[2] === 'x') return true;
  const number = (text) => (text === undefined || text === '*' || text === 'x' ? 0 : Number(text));
  const wanted = [number(match[2]), number(match[3]), number(match[4])];
  const order = compare(OLDEST, wanted);
  switch (match[1]) {
    case '>=':
      return order >= 0;
    case '>':
      return order > 0;
    case '<=':
      return order <= 0;
    case '<':
      return order < 0;
    case '~':
      return order >= 0 && OLDEST[0] === wanted[0] && OLDEST[1] === wanted[1];
    default:
      return order >= 0 && OLDEST[0] === wanted[0];
  }
}

function compare(a, b) {
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}
