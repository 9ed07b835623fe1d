// Draws the dependencies between packages from their package.json files as a Mermaid diagram.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tiers from './tiers.cjs';

const packages = join(dirname(fileURLToPath(import.meta.url)), '..', 'packages');

/** The runtime packages of each package. The published one bundles its devDependencies. */
function packageImports() {
  const rooms = tiers.flat();
  return new Map(
    rooms.map((room) => {
      const { dependencies, devDependencies } = JSON.parse(
        readFileSync(join(packages, room, 'package.json'), 'utf8'),
      );
      const needs = room === 'agentci' ? devDependencies : dependencies;
      const names = Object.keys(needs ?? {}).map((name) => name.replace('@agentci/', ''));
      return [room, new Set(names.filter((name) => rooms.includes(name)))];
    }),
  );
}

/** Removes edges implied by a longer path, to keep the diagram readable. */
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

/** The diagram: one box per tier, the command line on top, arrows to imported packages. */
export function importGraph() {
  const imports = packageImports();
  const lines = ['flowchart TD'];
  for (const [i, tier] of [...tiers.entries()].reverse()) {
    lines.push(
      `  subgraph tier${i + 1}["${i + 1}"]`,
      '    direction LR',
      ...tier.map((room) => `    ${room}`),
      '  end',
    );
  }
  for (const tier of [...tiers].reverse())
    for (const room of tier)
      for (const to of withoutShortcuts(imports).get(room)) lines.push(`  ${room} --> ${to}`);
  return lines.join('\n');
}

const MARKS =
  /(<!-- import graph: written by npm run gen -->\n)[\s\S]*?(<!-- end of the import graph -->)/;

/** Updates the graph in the page. */
export function withImportGraph(page) {
  if (!MARKS.test(page))
    throw new Error('docs/design/packages.md has no place for the import graph');
  return page.replace(
    MARKS,
    (_, start, end) => `${start}\n\`\`\`mermaid\n${importGraph()}\n\`\`\`\n\n${end}`,
  );
}
