/** One combination of a matrix: each variable with its value as text. */
export type Cell = Readonly<Record<string, string>>;

/** All that tells one case of a run from the others. A case of a spec without a matrix is known by its id alone. */
export interface CaseName {
  readonly id: string;
  readonly cell?: Cell | undefined;
}

/** By what a case is known in maps and sets. Ids are without null bytes, so that no two cases share a key. */
export const caseKey = ({ id, cell }: CaseName): string =>
  cell === undefined ? id : `${id}\0${cellKey(cell)}`;

/** The same text for the same combination, whatever the order of its variables. */
export const cellKey = (cell: Cell): string =>
  JSON.stringify(Object.entries(cell).sort(([a], [b]) => Number(a > b) - Number(a < b)));

/** `model=a, prompt=x.md`, in the order of the spec. */
export const cellText = (cell: Cell): string =>
  Object.entries(cell)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** `refund`, or `refund (model=a)` where there are cells. */
export const caseText = ({ id, cell }: CaseName): string =>
  cell === undefined ? id : `${id} (${cellText(cell)})`;

export const sameCell = (a: Cell | undefined, b: Cell | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && cellKey(a) === cellKey(b));
