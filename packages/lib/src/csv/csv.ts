/** A CSV row with the number of its first line. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Reads RFC 4180. Quoted cells may contain commas, quotes and line breaks; blank lines are skipped.
 * `unclosed` is the line of a quote that never ends.
 */
export function parseCsv(text: string): {
  readonly rows: readonly CsvRow[];
  readonly unclosed?: number;
} {
  const rows: CsvRow[] = [];
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  let line = 1;
  let start = 1;
  let cells: string[] = [];
  let at = 0;
  const end = (): void => {
    if (cells.length > 1 || cells[0]?.trim() !== '') rows.push({ line: start, cells });
    cells = [];
  };
  while (at < source.length) {
    if (cells.length === 0) start = line;
    let cell: string;
    if (source[at] === '"') {
      const close = closingQuote(source, at + 1);
      if (close === -1) return { rows, unclosed: line };
      cell = source.slice(at + 1, close).replaceAll('""', '"');
      line += cell.split('\n').length - 1;
      at = close + 1;
      // Text between a closing quote and the comma is not part of the value.
      at = nextBreak(source, at);
    } else {
      const stop = nextBreak(source, at);
      cell = source.slice(at, stop);
      at = stop;
    }
    cells.push(cell);
    if (source[at] === ',') {
      at++;
      if (at === source.length) cells.push('');
      continue;
    }
    if (source[at] === '\r' && source[at + 1] === '\n') at++;
    at++;
    line++;
    end();
  }
  if (cells.length > 0) end();
  return { rows };
}

function closingQuote(source: string, from: number): number {
  for (let at = source.indexOf('"', from); at !== -1; at = source.indexOf('"', at + 2)) {
    if (source[at + 1] !== '"') return at;
  }
  return -1;
}

function nextBreak(source: string, from: number): number {
  let at = from;
  while (at < source.length && !',\r\n'.includes(source[at]!)) at++;
  return at;
}
