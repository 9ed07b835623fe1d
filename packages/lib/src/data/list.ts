/** The items without those that are undefined: `present([a, isLast ? b : undefined])`. */
export const present = <T>(items: readonly (T | undefined)[]): T[] =>
  items.filter((item) => item !== undefined);
