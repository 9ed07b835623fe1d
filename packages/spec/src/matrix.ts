import { keyPlace, toPlain, type YamlMap, type YamlNode } from '@agentci/lib/yaml';
import { type Cell, cellText, sameCell } from '@agentci/results';
import type { SpecProblems } from './problems.ts';
import { isBroken } from './value-check.ts';

/** More combinations than anyone would pay for. A typo reaches this quickly. */
const MAX_CELLS = 1000;

/** Every combination of `matrix`, the first variable changing slowest. Its values are validated. */
export function readMatrix(root: YamlMap, problems: SpecProblems): readonly Cell[] | undefined {
  const node = root.entries.get('matrix')?.value;
  if (node?.kind !== 'map') return undefined;
  let cells: Cell[] = [{}];
  for (const { key, value } of node.entries.values()) {
    // Its schema has reported an empty list.
    if (value.kind !== 'seq' || value.items.length === 0) return undefined;
    const texts = value.items.map((item) => String(toPlain(item)));
    const twice = texts.findIndex((text, i) => texts.indexOf(text) < i);
    if (twice !== -1) {
      problems.add(value.items[twice]!, {
        code: 'SPEC_VALUE',
        message: `"${key}" has the value ${JSON.stringify(texts[twice])} twice`,
        hint: 'values are compared as text, so give each once',
      });
      return undefined;
    }
    if (cells.length * texts.length > MAX_CELLS) {
      problems.add(node, {
        code: 'SPEC_VALUE',
        message: `the matrix has more than ${MAX_CELLS} combinations`,
      });
      return undefined;
    }
    cells = cells.flatMap((cell) => texts.map((text) => ({ ...cell, [key]: text })));
  }
  if (node.entries.size > 0) return cells;
  problems.add(node, { code: 'SPEC_EMPTY', message: '"matrix" has no variables' });
  return undefined;
}

/** `baseline_cell`, which must be one of the combinations. */
export function readBaselineCell(
  root: YamlMap,
  cells: readonly Cell[] | undefined,
  problems: SpecProblems,
): Cell | undefined {
  const entry = root.entries.get('baseline_cell');
  if (entry === undefined || entry.value.kind !== 'map' || hasBroken(entry.value)) return undefined;
  if (!root.entries.has('matrix')) {
    const hint = 'a cell is one combination of the matrix';
    problems.add(keyPlace(entry), {
      code: 'SPEC_NEEDS_KEY',
      message: '"baseline_cell" needs "matrix"',
      hint,
    });
    return undefined;
  }
  if (cells === undefined) return undefined;
  const wanted: Cell = Object.fromEntries(
    [...entry.value.entries].map(([name, { value }]) => [name, String(toPlain(value))]),
  );
  const found = cells.find((cell) => sameCell(cell, wanted));
  if (found !== undefined) return found;
  const shown = cells.slice(0, 5).map((cell) => `{${cellText(cell).replaceAll('=', ': ')}}`);
  problems.add(entry.value, {
    code: 'SPEC_VALUE',
    message: `the matrix has no cell {${cellText(wanted).replaceAll('=', ': ')}}`,
    hint: `it has ${shown.join(', ')}${cells.length > shown.length ? ', …' : ''}`,
  });
  return undefined;
}

const hasBroken = (node: YamlNode): boolean =>
  isBroken(node) ||
  (node.kind === 'map' && [...node.entries.values()].some(({ value }) => isBroken(value)));
