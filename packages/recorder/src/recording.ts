/** The files of one format, by name. */
export type Recording = Readonly<Record<string, string | Uint8Array>>;

/** Formats a value for a test file, indented for readable diffs. */
export const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Formats a list as JSON lines. */
export const asLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
