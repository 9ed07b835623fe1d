/** Whether a value is an object with fields, not null or a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value that a table has for an untrusted key. Names such as `constructor` are not in it. */
export const valueIn = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Whether any field has a value. `{ input: undefined }` has none. */
export const hasValues = (fields: object): boolean =>
  Object.values(fields).some((value) => value !== undefined);
