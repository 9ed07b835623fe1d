/** The files of one format, by name. */
export type Recording = Readonly<Record<string, string | Uint8Array>>;

/** A value as a file of the tests: indented, so that a difference can be read in a review. */
export const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A list as JSON lines. */
export const asLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
