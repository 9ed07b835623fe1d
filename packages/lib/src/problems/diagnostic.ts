/** A location in a user's text. Lines and columns start at 1; columns count UTF-16 units. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One located problem in a user's file. `formatDiagnostic` makes the text. */
export interface Diagnostic extends Location {
  readonly severity: 'error' | 'warning';
  /**
   * A stable code, such as `SPEC_UNKNOWN_KEY`. Tests and tools rely on it instead of the message.
   */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The source line for the caret, so that a message needs no file access. */
  readonly excerpt?: string;
}

/** Orders by file, position and code, so that two loads of one file report the same. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    Number(a.file > b.file) - Number(a.file < b.file) ||
    a.line - b.line ||
    a.column - b.column ||
    Number(a.code > b.code) - Number(a.code < b.code)
  );
}

const MAX_EXCERPT = 160;

/** `file:line:col CODE: problem`, the source line, the caret, the hint. */
export function formatDiagnostic(d: Diagnostic): string {
  const lines = [
    `${d.file}:${d.line}:${d.column} ${d.severity === 'warning' ? 'warning ' : ''}${d.code}: ${d.message}`,
  ];
  if (d.excerpt !== undefined) {
    const { text, caret } = window(d.excerpt, d.column);
    const gutter = String(d.line);
    lines.push(`${gutter} | ${text}`, `${' '.repeat(gutter.length)}   ${' '.repeat(caret)}^`);
  }
  if (d.hint !== undefined) lines.push(`  hint: ${d.hint}`);
  return lines.join('\n');
}

/** Cuts a long line around the column, for minified files. */
function window(excerpt: string, column: number): { text: string; caret: number } {
  const clean = excerpt.replaceAll('\t', ' ');
  if (clean.length <= MAX_EXCERPT) return { text: clean, caret: column - 1 };
  const start = Math.max(0, column - 1 - MAX_EXCERPT / 2);
  const text = `${start > 0 ? '…' : ''}${clean.slice(start, start + MAX_EXCERPT)}…`;
  return { text, caret: column - 1 - start + (start > 0 ? 1 : 0) };
}
