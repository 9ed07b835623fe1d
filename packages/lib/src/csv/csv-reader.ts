/** One CSV record, with the offset of every cell, including its quote. */
export interface CsvRecord {
  readonly cells: readonly string[];
  readonly starts: readonly number[];
}

/** A CSV syntax error and its location. */
export interface CsvMistake {
  readonly message: string;
  readonly hint: string;
  readonly start: number;
}

const QUOTE = 34;
const COMMA = 44;
const LINE_FEED = 10;
const RETURN = 13;

/**
 * Reads RFC 4180 record by record. Quoted cells may contain commas, line breaks and doubled quotes;
 * lines end with CRLF, LF or CR; blank lines are skipped. Yields errors in order, and continues
 * with the next record.
 */
export function* readCsv(text: string): Generator<CsvRecord | CsvMistake> {
  let at = 0;
  while (at < text.length) {
    const cells: string[] = [];
    const starts: number[] = [];
    let mistake: CsvMistake | undefined;
    for (;;) {
      const start = at;
      starts.push(start);
      if (text.charCodeAt(at) === QUOTE) {
        const close = closingQuote(text, at + 1);
        if (close === -1) {
          const hint = 'close it, and write a quote inside of quotes twice: ""';
          yield { message: 'a quote opens here and is never closed', hint, start };
          return;
        }
        const inside = text.slice(start + 1, close);
        cells.push(inside.includes('"') ? inside.replaceAll('""', '"') : inside);
        at = nextBreak(text, close + 1);
        if (at > close + 1)
          mistake ??= {
            message: 'there is text after the closing quote of a cell',
            hint: 'put the whole cell into quotes, and write a quote inside of them twice: ""',
            start: close + 1,
          };
      } else {
        at = nextBreak(text, start);
        const cell = text.slice(start, at);
        const quote = cell.indexOf('"');
        if (quote !== -1)
          mistake ??= {
            message: 'a quote inside of a cell that is not in quotes',
            hint: 'put the whole cell into quotes, and write the quote twice: ""',
            start: start + quote,
          };
        cells.push(cell);
      }
      if (text.charCodeAt(at) !== COMMA) break;
      at++;
    }
    const isBlank = cells.length === 1 && cells[0] === '' && at === starts[0];
    if (text.charCodeAt(at) === RETURN && text.charCodeAt(at + 1) === LINE_FEED) at++;
    at++;
    if (mistake !== undefined) yield mistake;
    else if (!isBlank) yield { cells, starts };
  }
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2))
    if (text.charCodeAt(at + 1) !== QUOTE) return at;
  return -1;
}

function nextBreak(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === COMMA || c === LINE_FEED || c === RETURN) break;
  }
  return at;
}
