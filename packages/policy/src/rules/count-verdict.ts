import type { CallLists } from '../call-table.ts';
import { isByName, type Selector } from '../selectors.ts';
import { type RuleRun, type RuleVerdict, times } from './rule.ts';

/** Whether the number of calls is allowed. Below the minimum, an unfinished run is undecided. */
export function countVerdict(
  tool: Selector,
  { min, max }: { readonly min?: number; readonly max?: number },
  { table, complete }: RuleRun,
): RuleVerdict {
  const found = table.indices(tool);
  const expected = `${tool.label} to be called ${bounds(min, max)}`;
  const actual = `${tool.label} was called ${times(found.length)}`;
  if (max !== undefined && found.length > max)
    return { outcome: 'violated', spanned: found, expected, actual, brokenBy: found.slice(max) };
  if (min !== undefined && found.length < min) {
    return complete
      ? { outcome: 'violated', spanned: found, expected, actual }
      : { outcome: 'not_exercised', spanned: [], expected, actual: `${actual} so far` };
  }
  return { outcome: 'held', spanned: found, expected, actual };
}

/** The message for a call above the limit. */
export function tooMany(
  tool: Selector,
  max: number | undefined,
  calls: CallLists,
  at: number,
): string | undefined {
  if (max === undefined || !calls.isMeant(tool, at)) return undefined;
  const over = calls.indices(tool)[max];
  return over === undefined || at < over
    ? undefined
    : `${tool.label} was called ${times(max)} already, the most allowed`;
}

/** A tool that must never be called. */
export const isNever = (
  tool: Selector,
  max: number | undefined,
  isMeant: (selector: Selector) => boolean,
): boolean => max === 0 && isByName(tool) && isMeant(tool);

function bounds(min: number | undefined, max: number | undefined): string {
  if (min === max && min !== undefined) return `exactly ${times(min)}`;
  const parts: string[] = [];
  if (min !== undefined) parts.push(`at least ${times(min)}`);
  if (max !== undefined) parts.push(`at most ${times(max)}`);
  return parts.join(' and ');
}
