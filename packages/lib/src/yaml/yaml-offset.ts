import type { YamlNode, YamlPlace } from './yaml-node.ts';

/**
 * Source position of a character in a scalar of any style: quotes, escapes, folded and indented
 * lines.
 */
export function placeInside(node: YamlNode | YamlPlace, offset: number): YamlPlace {
  const { source, start } = node;
  if (!('kind' in node) || node.kind !== 'scalar' || typeof node.value !== 'string')
    return { source, start };
  const { value, style } = node;
  const raw = source.text;
  let at = start;
  if (style === 'quoted') at++;
  else if (style === 'block') at = firstLine(raw, start);
  const isDouble = style === 'quoted' && raw[start] === '"';
  const isSingle = style === 'quoted' && !isDouble;
  for (let i = 0; i < value.length && at < raw.length; i++) {
    at = skipLayout(raw, at, value[i]!, isDouble);
    if (i === offset) return { source, start: at };
    at += writtenLength(raw, at, { isDouble, isSingle });
  }
  return { source, start: Math.min(at, raw.length) };
}

/** After the header of a block scalar, such as `|-`. */
function firstLine(raw: string, start: number): number {
  const end = raw.indexOf('\n', start);
  return end === -1 ? raw.length : end + 1;
}

/** White space that is not part of the value: indentation and folded line breaks. */
function skipLayout(raw: string, from: number, char: string, isDouble: boolean): number {
  let at = from;
  if (isDouble && raw[at] === '\\') return at;
  if (char === ' ' || char === '\n' || char === '\t') {
    if (raw[at] === char) return at;
    // One space represents a line break with its indentation.
    while (at + 1 < raw.length && isBlank(raw[at]) && isBlank(raw[at + 1])) at++;
    return at;
  }
  while (at < raw.length && isBlank(raw[at])) at++;
  return at;
}

const isBlank = (char: string | undefined): boolean =>
  char === ' ' || char === '\n' || char === '\r' || char === '\t';

const ESCAPES: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

function writtenLength(
  raw: string,
  at: number,
  { isDouble, isSingle }: { isDouble: boolean; isSingle: boolean },
): number {
  if (isSingle && raw[at] === "'") return 2;
  if (isDouble && raw[at] === '\\') return ESCAPES[raw[at + 1] ?? ''] ?? 2;
  return 1;
}
