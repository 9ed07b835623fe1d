import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { Cell } from '@agentci/results';
import type { Suite } from '@agentci/spec';

/** Selected values per variable. A cell needs one of the values for each variable. */
export type ChosenValues = Readonly<Record<string, readonly string[]>>;

/**
 * The cells that `--cell name=value` selects: any of the values per variable, for all variables.
 */
export function cellsOf(
  suite: Pick<Suite, 'cells' | 'file'>,
  written: readonly string[] | undefined,
): ChosenValues | undefined {
  if (written === undefined || written.length === 0) return undefined;
  const { cells } = suite;
  if (cells === undefined) {
    throw new UserError('OPTION_INVALID', `--cell: ${suite.file} has no matrix`, {
      hint: 'Leave --cell out, or write matrix: {model: [a, b]} at the root of the spec.',
    });
  }
  return valuesAmong(cells, written);
}

/** Parses the options if the cells have such variables and values. */
export function valuesAmong(cells: readonly Cell[], written: readonly string[]): ChosenValues {
  const selected = new Map<string, string[]>();
  const names = [...new Set(cells.flatMap((cell) => Object.keys(cell)))];
  for (const each of written) {
    const equals = each.indexOf('=');
    const name = each.slice(0, Math.max(equals, 0)).trim();
    const value = each.slice(equals + 1);
    if (equals === -1 || !names.includes(name)) {
      const near = didYouMean(name === '' ? each : name, names);
      throw new UserError(
        'OPTION_INVALID',
        equals === -1
          ? `--cell takes name=value, not "${each}"`
          : `--cell: the matrix has no variable "${name}"`,
        {
          hint:
            near === undefined
              ? `Its variables are: ${names.join(', ')}`
              : `Did you mean "${near}"?`,
        },
      );
    }
    const values = [...new Set(cells.flatMap((cell) => cell[name] ?? []))];
    if (!values.includes(value)) {
      throw new UserError(
        'OPTION_INVALID',
        `--cell: "${name}" has no value "${value}" in the matrix`,
        {
          hint: `Its values are: ${values.slice(0, 20).join(', ')}`,
        },
      );
    }
    selected.set(name, [...(selected.get(name) ?? []), value]);
  }
  return Object.fromEntries(selected);
}
