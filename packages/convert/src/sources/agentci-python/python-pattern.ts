/** A translated pattern of Python's `re`, and its possible differences. */
export interface PythonPattern {
  readonly pattern: string;
  readonly close?: string;
}

/** In Python `.` excludes only line feeds, and a final `$` also matches before a last one. */
export function pythonPattern(written: string): PythonPattern {
  const flags = /^\(\?([a-zA-Z]+)\)/.exec(written)?.[1] ?? '';
  const isMultiline = flags.includes('m');
  let pattern = '';
  let close: string | undefined;
  let isInSet = false;
  for (let at = 0; at < written.length; at++) {
    const char = written[at]!;
    if (char === '\\') {
      const escaped = written.slice(at, at + 2);
      if (/[wWdDsSbB]/.test(escaped[1] ?? '') && !(isInSet && escaped === '\\b'))
        close ??= `"${escaped}" is of all scripts there, and of ASCII here`;
      pattern += escaped;
      at++;
    } else if (isInSet || char === '[') {
      // A bracket right after the opening is literal in Python, and closes an empty set here.
      if (char === '[' && !isInSet && /^\[\^?\]/.test(written.slice(at, at + 3)))
        close ??= '"]" first in a set';
      isInSet = char !== ']';
      pattern += char;
    } else if (char === '.') pattern += flags.includes('s') ? '.' : '[^\\n]';
    else if (char === '$' && !isMultiline && at === written.length - 1) pattern += '\\n?$';
    else {
      if (char === '$' || (char === '^' && isMultiline))
        close ??= `"${char}" matches at other places there`;
      pattern += char;
    }
  }
  if (
    close === undefined &&
    (/[^is]/.test(flags) ||
      /\(\?[a-zA-Z-]+[:)]/.test(written.slice(flags === '' ? 0 : flags.length + 3)))
  )
    close = 'flags of Python in the pattern';
  if (close === undefined && flags.includes('i') && /[^\0-\x7f]/.test(written))
    close = 'letters outside of ASCII may fold in another way there';
  return close === undefined ? { pattern } : { pattern, close };
}
