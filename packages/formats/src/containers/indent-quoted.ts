const OPENS = /^(\s*)(?:- )*[\w$-]{1,80}: (['"])/;

/**
 * Indents continuation lines of quoted texts as YAML requires. Some writers leave them at the depth
 * of their key, which other parsers tolerate. The spaces are not part of the text.
 */
export function indentQuoted(text: string): string {
  const lines = text.split('\n');
  let quote: string | undefined;
  let depth = 0;
  for (const [i, line] of lines.entries()) {
    if (quote === undefined) {
      const opened = OPENS.exec(line);
      if (opened === null || isClosed(line.slice(opened[0].length), opened[2]!)) continue;
      quote = opened[2]!;
      depth = opened[1]!.length + 2;
      continue;
    }
    const indent = line.length - line.trimStart().length;
    if (line.trim() !== '' && indent < depth) lines[i] = ' '.repeat(depth) + line.trimStart();
    if (isClosed(line, quote)) quote = undefined;
  }
  return lines.join('\n');
}

/**
 * Whether a quoted text ends in the rest of a line. A quote is escaped by doubling or a backslash.
 */
const isClosed = (rest: string, quote: string): boolean =>
  quote === "'" ? rest.replaceAll("''", '').includes("'") : rest.replace(/\\./g, '').includes('"');
