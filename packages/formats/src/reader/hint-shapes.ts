import { isFields } from '@agentci/trace';

type Fields = Readonly<Record<string, unknown>>;

/** Types of tool results. */
export const RESULT_KIND = /result|output/i;

/** Whether a numbered list has a gap. */
export function hasHole(items: readonly unknown[]): boolean {
  const [first] = items;
  if (!isFields(first)) return false;
  let key: 'step_id' | 'turn_idx' | undefined;
  if ('step_id' in first) key = 'step_id';
  else if ('turn_idx' in first) key = 'turn_idx';
  if (key === undefined) return false;
  let last: number | undefined;
  for (const item of items) {
    const place = isFields(item) ? item[key] : undefined;
    if (typeof place !== 'number') return false;
    if (last === undefined ? place > 1 : place > last + 1) return true;
    last = place;
  }
  return false;
}

/** One sampling of a model in the usage of a reply. */
export const isRound = (value: unknown): boolean =>
  isFields(value) && typeof value.output_tokens === 'number';

export const isDefinition = (tool: Fields): boolean =>
  /addition|reference|definition/.test(asWord(tool.type)) ||
  'description' in tool ||
  'parameters' in tool ||
  'inputSchema' in tool ||
  'input_schema' in tool ||
  'schema' in tool;

/** Whether an item of a tool list was called, because it has an outcome. */
export const hasRun = (item: unknown): boolean =>
  isFields(item) &&
  !isDefinition(item) &&
  ['result', 'output', 'tool_args', 'tool_call_id'].some((key) => key in item);

export const hasResult = (content: unknown): boolean =>
  Array.isArray(content) &&
  content.some((block) => isFields(block) && RESULT_KIND.test(asWord(block.type)));

/** A total far beyond the sum of its parts. */
export function isUnaccounted({
  total_tokens,
  prompt_tokens,
  completion_tokens,
  completion_tokens_details: details,
}: Fields): boolean {
  const sum = asNumber(prompt_tokens) + asNumber(completion_tokens);
  const thought = isFields(details) ? asNumber(details.reasoning_tokens) || 0 : 0;
  return asNumber(total_tokens) > 10 * (sum + thought) + 10_000;
}

/** Whether events were summed up that came before the first of those that are there. */
export function isCutBefore(events: readonly unknown[]): boolean {
  const times = events.flatMap((event) =>
    isFields(event) && typeof event.timestamp === 'number' ? [event.timestamp] : [],
  );
  return events.some((event) => {
    const actions = isFields(event) && isFields(event.actions) ? event.actions : {};
    const { compaction } = actions;
    const start = isFields(compaction)
      ? (compaction.startTimestamp ?? compaction.start_timestamp)
      : undefined;
    return typeof start === 'number' && !times.some((time) => time <= start);
  });
}

/** Whether there is a count above zero, or anything but counts, in a value. */
export const isUsed = (value: unknown, depth = 3): boolean =>
  isFields(value) && depth > 0
    ? Object.values(value).some((inner) => isUsed(inner, depth - 1) || typeof inner === 'string')
    : isSomething(value);

export const isSomething = (value: unknown): boolean => {
  if (typeof value === 'number') return value > 0;
  if (Array.isArray(value)) return value.length > 0;
  if (isFields(value)) return Object.keys(value).length > 0;
  return value === true;
};

/** A number or numeric text. Never calls `valueOf` on an untrusted object. */
export const asNumber = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;

/** A word or number as text; undefined for anything else. */
export const asWord = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
