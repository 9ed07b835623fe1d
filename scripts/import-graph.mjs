// Draws which rooms of the program import which, from the sources themselves, as a Mermaid diagram.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import tiers from './tiers.cjs';

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/g;

/** The rooms each room imports from, types and on-demand imports included, tests left out. */
function roomImports(src) {
  const imports = new Map(tiers.flat().map((room) => [room, new Set()]));
  const files = readdirSync(src, { recursive: true }).map((path) =>
    String(path).split(sep).join('/'),
  );
  for (const file of files.filter(
    (path) => /\.(ts|mjs)$/.test(path) && !path.endsWith('.test.ts'),
  )) {
    const room = file.split('/')[0];
    if (!imports.has(room)) continue;
    for (const [, from, onDemand] of readFileSync(join(src, file), 'utf8').matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(file), from ?? onDemand).split('/')[0];
      if (target !== room && imports.has(target)) imports.get(room).add(target);
    }
  }
  return imports;
}

/** An arrow that a longer way shows as well says nothing new: without those the picture can be read. */
function withoutShortcuts(imports) {
  const reaches = (from, to, seen = new Set()) =>
    [...imports.get(from)].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return new Map(
    [...imports].map(([room, targets]) => [
      room,
      [...targets]
        .filter((to) => ![...targets].some((via) => via !== to && reaches(via, to)))
        .sort(),
    ]),
  );
}

/** The diagram: one box per tier, the command line on top, arrows to what is imported. */
export function importGraph(src) {
  const imports = roomImports(src);
  const used = tiers
    .map((tier) => tier.filter((room) => readdirSync(src).includes(room)))
    .filter((tier) => tier.length > 0);
  const lines = ['flowchart TD'];
  for (const [i, tier] of [...used.entries()].reverse()) {
    lines.push(
      `  subgraph tier${i + 1}["${i + 1}"]`,
      '    direction LR',
      ...tier.map((room) => `    ${room}`),
      '  end',
    );
  }
  for (const tier of [...used].reverse())
    for (const room of tier)
      for (const to of withoutShortcuts(imports).get(room)) lines.push(`  ${room} --> ${to}`);
  return lines.join('\n');
}

const MARKS =
  /(<!-- import graph: written by npm run gen -->\n)[\s\S]*?(<!-- end of the import graph -->)/;

/** The page with the picture drawn anew. */
export function withImportGraph(page, src) {
  if (!MARKS.test(page)) throw new Error('ARCHITECTURE.md has no place for the import graph');
  return page.replace(
    MARKS,
    (_, start, end) => `${start}\n\`\`\`mermaid\n${importGraph(src)}\n\`\`\`\n\n${end}`,
  );
}
