/** One combination of a matrix: each variable with its value as text. */
export type Cell = Readonly<Record<string, string>>;

/** Identifies a case of a run. Without a matrix the id is enough. */
export interface CaseName {
  readonly id: string;
  readonly cell?: Cell | undefined;
}

/** A key for maps and sets. Ids contain no null bytes, so two cases never share a key. */
export const caseKey = ({ id, cell }: CaseName): string =>
  cell === undefined ? id : `${id}\0${cellKey(cell)}`;

/** The same text for the same combination, in any order of variables. */
export const cellKey = (cell: Cell): string =>
  JSON.stringify(Object.entries(cell).sort(([a], [b]) => Number(a > b) - Number(a < b)));

/** `model=a, prompt=x.md`, in the order of the spec. */
export const cellText = (cell: Cell): string =>
  Object.entries(cell)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** `refund`, or `refund (model=a)` with a matrix. */
export const caseText = ({ id, cell }: CaseName): string =>
  cell === undefined ? id : `${id} (${cellText(cell)})`;

export const sameCell = (a: Cell | undefined, b: Cell | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && cellKey(a) === cellKey(b));
