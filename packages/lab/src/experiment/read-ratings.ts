import { parseCsv } from '@agentci/lib/csv';
import { decimal } from '@agentci/lib/numbers';
import type { Diagnostic } from '@agentci/lib/problems';
import { UserError } from '@agentci/lib/problems';
import type { Rating } from './agreement.ts';

const ITEM_COLUMNS = ['item', 'trial', 'trial_id', 'id'];
const MAX_RATERS = 200;

/**
 * One row per rating: the item, the rater, and one column per component. A blank cell is a missing
 * rating.
 */
export function readRatings(text: string, file: string): Rating[] {
  const diagnostics: Diagnostic[] = [];
  const say = (line: number, message: string): void => {
    diagnostics.push({ severity: 'error', code: 'DATA_INVALID', message, file, line, column: 1 });
  };
  const { rows, unclosed } = parseCsv(text);
  if (unclosed !== undefined) say(unclosed, 'a quoted cell is never closed');
  const [header, ...body] = rows;
  const names = header?.cells.map((cell) => cell.trim()) ?? [];
  const lower = names.map((name) => name.toLowerCase());
  const item = lower.findIndex((name) => ITEM_COLUMNS.includes(name));
  const rater = lower.indexOf('rater');
  const components = [...names.keys()].filter((i) => i !== item && i !== rater);
  if (item === -1 || rater === -1 || components.length === 0)
    say(1, 'the header needs a column "item" (or "trial"), a column "rater" and at least one more');
  const ratings: Rating[] = [];
  const seen = new Set<string>();
  for (const { line, cells } of diagnostics.length > 0 ? [] : body) {
    const key = JSON.stringify([cells[item]?.trim(), cells[rater]?.trim()]);
    if (cells.length !== names.length)
      say(line, `the row has ${cells.length} cells and the header ${names.length}`);
    else if (cells[item]!.trim() === '' || cells[rater]!.trim() === '')
      say(line, 'the row does not say who rated what');
    else if (seen.has(key)) say(line, `${cells[rater]} rated ${cells[item]} twice`);
    else
      for (const i of components)
        ratings.push({
          item: cells[item]!.trim(),
          rater: cells[rater]!.trim(),
          component: names[i]!,
          value: ratingOf(cells[i]!),
        });
    seen.add(key);
  }
  if (diagnostics.length > 0)
    throw new UserError('DATA_INVALID', `${file} cannot be used`, {
      diagnostics: diagnostics.slice(0, 100),
    });
  if (ratings.length === 0) throw new UserError('NOTHING_FOUND', `no ratings found in ${file}`);
  if (new Set(ratings.map((rating) => rating.rater)).size > MAX_RATERS)
    throw new UserError('FILE_TOO_LARGE', `${file} has more than ${MAX_RATERS} raters`);
  return ratings;
}

function ratingOf(cell: string): number | string | null {
  const written = cell.trim();
  if (/^(?:|na|n\/a|null|nan)$/i.test(written)) return null;
  const number = decimal(written);
  return Number.isFinite(number) ? number : written;
}
