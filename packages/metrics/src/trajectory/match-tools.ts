import { visibleNames } from '@agentci/lib/text';

export const MATCH_MODES = ['strict', 'unordered', 'subset', 'superset'] as const;
export type MatchMode = (typeof MATCH_MODES)[number];

/**
 * The rule of each mode. Every reason prints it, because other tools (such as LangChain's
 * agentevals) use the names subset and superset the other way round.
 */
export const MATCH_RULES: Readonly<Record<MatchMode, string>> = {
  strict: 'strict: the same tools in the same order, as often',
  unordered: 'unordered: the same set of tools; order and repeats do not count',
  subset: 'subset: every reference tool must be used; other tools may be used too',
  superset: 'superset: every used tool must be in the reference; not all of them need to be used',
};

export interface ToolMatch {
  readonly matched: boolean;
  /** The rule, and the missing and extra tools with counts. */
  readonly reason: string;
}

/**
 * Compares the used tools with a reference in one of four modes. Three compare sets, so repeats
 * count only in `strict`.
 */
export function matchTools(options: {
  readonly used: readonly string[];
  readonly reference: readonly string[];
  readonly mode: MatchMode;
}): ToolMatch {
  const { mode } = options;
  const used = visibleNames(options.used);
  const reference = visibleNames(options.reference);
  if (mode === 'strict') return matchStrictly(used, reference);
  const usedCounts = countNames(used);
  const referenceCounts = countNames(reference);
  const missing = [...referenceCounts].filter(([name]) => !usedCounts.has(name));
  const extra = [...usedCounts].filter(([name]) => !referenceCounts.has(name));
  switch (mode) {
    case 'unordered':
      return verdict(mode, missing.length + extra.length === 0, [
        ...listed('missing', missing),
        ...listed('extra', extra),
      ]);
    case 'subset':
      return verdict(mode, missing.length === 0, listed('missing', missing));
    case 'superset':
      return verdict(mode, extra.length === 0, listed('extra', extra));
  }
}

function matchStrictly(used: readonly string[], reference: readonly string[]): ToolMatch {
  const at = firstDifference(used, reference);
  if (at === -1) return verdict('strict', true, [`${used.length} calls in the same order`]);
  const differences = countDifferences(countNames(used), countNames(reference));
  return verdict('strict', false, [...differences, differenceText(at, used, reference)]);
}

function verdict(mode: MatchMode, matched: boolean, findings: readonly string[]): ToolMatch {
  return { matched, reason: [`${MATCH_RULES[mode]}`, ...findings].join('; ') };
}

function countNames(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const MAX_NAMES = 10;

function listed(word: string, names: readonly (readonly [string, number])[]): string[] {
  if (names.length === 0) return [];
  const shown = names
    .slice(0, MAX_NAMES)
    .map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  if (names.length > MAX_NAMES) shown.push('…');
  return [`${word} ${names.length}: ${shown.join(', ')}`];
}

function countDifferences(
  used: ReadonlyMap<string, number>,
  reference: ReadonlyMap<string, number>,
): string[] {
  const missing: [string, number][] = [];
  const extra: [string, number][] = [];
  for (const name of new Set([...reference.keys(), ...used.keys()])) {
    const surplus = (used.get(name) ?? 0) - (reference.get(name) ?? 0);
    if (surplus < 0) missing.push([name, -surplus]);
    if (surplus > 0) extra.push([name, surplus]);
  }
  return [...listed('missing', missing), ...listed('extra', extra)];
}

/** Index of the first call that differs, or -1. */
function firstDifference(used: readonly string[], reference: readonly string[]): number {
  const shorter = Math.min(used.length, reference.length);
  for (let i = 0; i < shorter; i++) if (used[i] !== reference[i]) return i;
  return used.length === reference.length ? -1 : shorter;
}

function differenceText(at: number, used: readonly string[], reference: readonly string[]): string {
  return `call ${at + 1} is ${used[at] ?? 'not there'}, the reference has ${reference[at] ?? 'no such call'}`;
}
