import { didYouMean } from '../kit/did-you-mean.ts';
import { UserError } from '../kit/user-error.ts';
import type { Suite } from '../spec/suite.ts';

/** The cells that `--cell name=value` selects: of one variable any of the values, of several all. */
export function cellsOf(
  suite: Pick<Suite, 'cells' | 'file'>,
  written: readonly string[] | undefined,
): Readonly<Record<string, readonly string[]>> | undefined {
  if (written === undefined || written.length === 0) return undefined;
  const { cells } = suite;
  if (cells === undefined) {
    throw new UserError('CELL_UNKNOWN', `--cell: ${suite.file} has no matrix`, {
      hint: 'Leave --cell out, or write matrix: {model: [a, b]} at the root of the spec.',
    });
  }
  const selected = new Map<string, string[]>();
  for (const each of written) {
    const equals = each.indexOf('=');
    const name = each.slice(0, Math.max(equals, 0)).trim();
    const value = each.slice(equals + 1);
    const names = Object.keys(cells[0]!);
    if (equals === -1 || !names.includes(name)) {
      const near = didYouMean(name === '' ? each : name, names);
      throw new UserError(
        'CELL_UNKNOWN',
        equals === -1 ? `--cell takes name=value, not "${each}"` : `--cell: the matrix has no variable "${name}"`,
        { hint: near === undefined ? `Its variables are: ${names.join(', ')}` : `Did you mean "${near}"?` },
      );
    }
    const values = [...new Set(cells.map((cell) => cell[name]!))];
    if (!values.includes(value)) {
      throw new UserError('CELL_UNKNOWN', `--cell: "${name}" has no value "${value}" in the matrix`, {
        hint: `Its values are: ${values.slice(0, 20).join(', ')}`,
      });
    }
    selected.set(name, [...(selected.get(name) ?? []), value]);
  }
  return Object.fromEntries(selected);
}
