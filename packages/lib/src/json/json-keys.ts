const QUOTE = 34;
const BACKSLASH = 92;

/**
 * A key that an object of a JSON text has twice, with its offset. `JSON.parse` keeps the last one and other readers the
 * first, so such a text says two things. The text must be valid JSON.
 */
export function findDuplicateKey(
  text: string,
): { readonly key: string; readonly offset: number } | undefined {
  /** Of each open object its keys, of each open list nothing. */
  const open: (Set<string> | undefined)[] = [];
  let expectsKey = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const start = i;
      let isPlain = true;
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) {
        if (text.charCodeAt(i) !== BACKSLASH) continue;
        isPlain = false;
        i++;
      }
      const keys = expectsKey ? open.at(-1) : undefined;
      expectsKey = false;
      if (keys === undefined) continue;
      const written = text.slice(start, i + 1);
      const key = isPlain ? written.slice(1, -1) : unescaped(written);
      if (keys.has(key)) return { key, offset: start };
      keys.add(key);
    } else if (c === 123) {
      open.push(new Set());
      expectsKey = true;
    } else if (c === 91) open.push(undefined);
    else if (c === 125 || c === 93) {
      open.pop();
      expectsKey = false;
    } else if (c === 44) expectsKey = open.at(-1) !== undefined;
  }
  return undefined;
}

function unescaped(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
}
