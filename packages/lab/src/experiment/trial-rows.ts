import { parseCsv } from '@agentci/lib/csv';
import { isObject } from '@agentci/lib/data';
import type { Diagnostic } from '@agentci/lib/problems';
import { fuseFormula } from '@agentci/lib/text';

/** A trial from a file: lowercase field names, and its line number. */
export interface TrialRow {
  readonly line: number;
  /** Identifies the row if the document has no lines. */
  readonly label?: string;
  readonly fields: ReadonlyMap<string, unknown>;
}

const MAX_ROWS = 1_000_000;

/**
 * Reads CSV, JSON Lines, a JSON array, or a JSON object with `trials`. Detects the format from the
 * start of the text.
 */
export function readRows(
  text: string,
  file: string,
): { readonly rows: TrialRow[]; readonly problems: Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const say = (line: number, message: string): void => {
    problems.push({ severity: 'error', code: 'DATA_INVALID', message, file, line, column: 1 });
  };
  const first = text.trimStart()[0];
  const rows = first === '{' || first === '[' ? jsonRows(text, say) : csvRows(text, say);
  if (rows.length > MAX_ROWS)
    say(1, `${rows.length} trials are too many; at most ${MAX_ROWS} are read`);
  return { rows, problems };
}

type Say = (line: number, message: string) => void;

function csvRows(text: string, say: Say): TrialRow[] {
  const { rows, unclosed } = parseCsv(text);
  if (unclosed !== undefined) say(unclosed, 'a quoted cell is never closed');
  const [header, ...body] = rows;
  if (header === undefined) return [];
  const names = header.cells.map((cell) => cell.trim().toLowerCase());
  return body.flatMap(({ line, cells }) => {
    if (cells.length === names.length)
      return [
        {
          line,
          fields: new Map(cells.map((cell, i) => [names[i]!, fuseFormula(cell.trim())] as const)),
        },
      ];
    say(line, `the row has ${cells.length} cells and the header ${names.length}`);
    return [];
  });
}

function jsonRows(text: string, say: Say): TrialRow[] {
  const whole = parse(text);
  if (whole.ok) {
    const list = listIn(whole.value);
    return list.flatMap((value, i) => rowOf(value, { line: 1, label: `trial ${i + 1}: ` }, say));
  }
  return text.split(/\r?\n/).flatMap((written, i) => {
    if (written.trim() === '') return [];
    const parsed = parse(written);
    if (parsed.ok) return rowOf(parsed.value, { line: i + 1 }, say);
    say(i + 1, 'the line is not JSON');
    return [];
  });
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const trials = (value as { trials?: unknown } | null)?.trials;
  return Array.isArray(trials) ? trials : [value];
}

function rowOf(value: unknown, place: Omit<TrialRow, 'fields'>, say: Say): TrialRow[] {
  if (isObject(value))
    return [
      {
        ...place,
        fields: new Map(Object.entries(value).map(([key, field]) => [key.toLowerCase(), field])),
      },
    ];
  say(place.line, `${place.label ?? ''}a trial is an object`);
  return [];
}

function parse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}
