/** Parses an answer that is a JSON object or list. Undefined for any other answer. */
export function jsonOf(answer: string): object | undefined {
  if (!/^\s*[[{]/.test(answer)) return undefined;
  try {
    return JSON.parse(answer) as object;
  } catch {
    return undefined;
  }
}
