/** Identifying keys come first. The rest is in alphabetical order. */
const FIRST = [
  'schema',
  'version',
  'agent',
  'query',
  'query_id',
  'cell',
  'captured_at',
  'metadata',
  'trace',
  'model',
  'spec_hash',
  'judge_rubric_ids',
  'precheck_passed',
  'forced',
  'id',
  'seq',
  'kind',
  'name',
  'role',
  'type',
  'from',
  'to',
  'args',
  'result',
  'status',
];
const RANK = new Map(FIRST.map((key, i) => [key, i]));
const MAX_DEPTH = 200;

/**
 * The text of a baseline for version control: the same content gives the same bytes, one fact per
 * line, for readable diffs.
 */
export const baselineText = (content: object): string =>
  `${JSON.stringify(ordered(content, 0), null, 2)}\n`;

function ordered(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => ordered(item, depth + 1));
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item, depth + 1)]));
}

const rank = (key: string): number => RANK.get(key) ?? FIRST.length;
