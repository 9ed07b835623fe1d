/** Whether a value is an object with fields, not null or a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether any field has a value. `{ input: undefined }` has none. */
export const hasValues = (fields: object): boolean =>
  Object.values(fields).some((value) => value !== undefined);
