/** Maximum nesting of a value. Deeper ones are attacks or mistakes, and break recursive readers. */
export const MAX_JSON_DEPTH = 512;

const MAX_JSON_NODES = 5_000_000;

/** Why an in-memory value cannot be stored as JSON, or undefined. A cycle counts as too deep. */
export function jsonProblem(root: unknown): 'too-deep' | 'too-large' | 'not-json' | undefined {
  let nodes = 0;
  const visit = (
    value: unknown,
    depth: number,
  ): 'too-deep' | 'too-large' | 'not-json' | undefined => {
    if (typeof value === 'bigint') return 'not-json';
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > MAX_JSON_DEPTH) return 'too-deep';
    // Counts visits, because shared references make a small graph print as a huge tree.
    if (++nodes > MAX_JSON_NODES) return 'too-large';
    for (const key of Object.keys(value)) {
      const problem = visit((value as Readonly<Record<string, unknown>>)[key], depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return visit(root, 1);
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Whether a JSON text nests deeper than a limit, without parsing it. */
export function isDeeperThan(text: string, limit: number): boolean {
  // Every level takes two characters, so a short text cannot be deep.
  if (text.length < 2 * limit) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === BACKSLASH) i++;
      else if (c === QUOTE) inString = false;
    } else if (c === QUOTE) inString = true;
    else if (c === 123 || c === 91) {
      if (++depth > limit) return true;
    } else if (c === 125 || c === 93) depth--;
  }
  return false;
}
