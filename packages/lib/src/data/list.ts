/** The defined items: `present([a, isLast ? b : undefined])`. */
export const present = <T>(items: readonly (T | undefined)[]): T[] =>
  items.filter((item) => item !== undefined);
