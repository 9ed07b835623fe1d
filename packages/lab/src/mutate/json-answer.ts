/** An answer that is a JSON object or list as a whole; undefined of any other. */
export function jsonOf(answer: string): object | undefined {
  if (!/^\s*[[{]/.test(answer)) return undefined;
  try {
    return JSON.parse(answer) as object;
  } catch {
    return undefined;
  }
}
