import { clip, listed, number, plural, shortJson } from './words.ts';

/** Sentences that several checks use to say what they want. */

const MAX_TEXT = 300;

/** `At most 3 tool calls`; none of them is `No tool calls`. */
export const upTo =
  (one: string, many?: string) =>
  (max: number): string =>
    max === 0 ? `No ${many ?? `${one}s`}` : `At most ${plural(max, one, many)}`;

export const between = ({ min, max }: { min?: number; max?: number }): string =>
  [
    min === undefined ? '' : `at least ${number(min)}`,
    max === undefined ? '' : `at most ${number(max)}`,
  ]
    .filter(Boolean)
    .join(' and ');

/** A call as people write one: `search(query: "x")`. */
export function callText({
  tool,
  args,
}: {
  readonly tool?: unknown;
  readonly args?: unknown;
}): string {
  if (typeof args !== 'object' || args === null) return String(tool);
  const named = Object.entries(args).map(([name, value]) => `${name}: ${shortJson(value)}`);
  return `${String(tool)}(${clip(named.join(', '), MAX_TEXT)})`;
}

export const toolsText = (names: readonly string[]): string => listed(names.map(String));
