/** The same fields, with those that may be undefined made optional. */
export type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out the fields that are undefined: in a trace an absent field means "not captured". */
export function defined<T extends object>(fields: T): Defined<T> {
  for (const key in fields) if (fields[key] === undefined) return withoutUndefined(fields);
  return fields as Defined<T>;
}

function withoutUndefined<T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) kept[key] = value;
  }
  return kept as Defined<T>;
}

/** The items without those that are undefined: `present([a, isLast ? b : undefined])`. */
export const present = <T>(items: readonly (T | undefined)[]): T[] =>
  items.filter((item) => item !== undefined);
