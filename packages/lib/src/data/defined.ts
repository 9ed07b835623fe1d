/** The same fields, optional if they may be undefined. */
export type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Omits undefined fields, because an absent field in a trace means "not captured". */
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
