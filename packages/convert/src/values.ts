import { defined, isObject } from '@agentci/lib/data';
import {
  type Block,
  type BlockValue,
  type Carried,
  carry,
  correctness,
  type Part,
  type Place,
  path,
} from './model.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

/** The first existing field, in any of its spellings. */
export const field = (fields: Fields, ...names: readonly string[]): unknown =>
  names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);

/** The value at a path: `inputs.question`, `messages.0.content`. */
export function at(value: unknown, steps: string): unknown {
  let current = value;
  for (const step of steps.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step))
      return undefined;
    current = (current as Record<string, unknown>)[step];
  }
  return current;
}

const QUESTIONS = [
  'input',
  'question',
  'query',
  'prompt',
  'user_input',
  'message',
  'messages',
  'text',
];

/**
 * The question: the field of `--map input=…`, otherwise a text, the only text of a map, or a field
 * with a common name.
 */
export function questionOf(
  value: unknown,
  from: { readonly whole?: unknown; readonly map?: string | undefined } = {},
): string | undefined {
  if (from.map !== undefined) return shownText(at(from.whole ?? value, from.map));
  if (typeof value === 'string') return textOf(value);
  if (Array.isArray(value)) return messagesText(value);
  const fields = fieldsOf(value);
  for (const name of QUESTIONS) {
    const found = fields[name];
    const text = Array.isArray(found) ? messagesText(found) : textOf(found);
    if (text !== undefined) return text;
  }
  const texts = Object.values(fields).filter((one) => textOf(one) !== undefined) as string[];
  if (texts.length === 1) return texts[0];
  return Object.keys(fields).length === 0 ? undefined : JSON.stringify(value);
}

export const shownText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return textOf(value);
  if (Array.isArray(value)) return messagesText(value) ?? JSON.stringify(value);
  if (value === undefined || value === null) return undefined;
  return JSON.stringify(value);
};

/** Messages as one text: a single one unchanged, several with their roles. */
export function messagesText(messages: readonly unknown[]): string | undefined {
  const parts = messages.flatMap((message) => {
    const { role, type, content } = fieldsOf(message);
    const text = contentText(content);
    return text === undefined ? [] : [{ role: String(role ?? type ?? 'user'), text }];
  });
  if (parts.length === 0) return undefined;
  if (parts.length === 1) return parts[0]!.text;
  return parts.map(({ role, text }) => `${role}: ${text}`).join('\n\n');
}

export function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return textOf(content);
  const texts = listOf(content).flatMap((part) => textOf(fieldsOf(part).text) ?? []);
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** An expected call in the format of the sources. */
export interface WantedCall {
  readonly tool: string;
  readonly args?: Fields | undefined;
}

const MATCHERS = new Set(['equals', 'one_of', 'oneOf', 'regex', 'tolerance', 'subset', 'ignore']);
/** A literal argument, even if it looks like a matcher. */
export const plainArgument = (value: unknown): BlockValue =>
  isObject(value) && Object.keys(value).some((key) => MATCHERS.has(key))
    ? ({ equals: value } as Block)
    : (value as BlockValue);

/** A literal name where patterns are accepted. */
const plainName = (name: string): string => name.replace(/[*?[]/g, '[$&]');

export type CallMode = 'exact' | 'unordered' | 'in_order' | 'any_order' | 'only';

/**
 * `expected_calls`. Without expected calls, `exact` and `unordered` forbid all calls, and the other
 * modes have no effect.
 */
export function expectedCalls(
  mode: CallMode,
  args: 'exact' | 'subset' | 'ignore',
  calls: readonly WantedCall[],
): readonly Part[] {
  if (calls.length === 0)
    return mode === 'in_order' || mode === 'any_order' ? [] : [path({ max_tool_calls: 0 })];
  const list = calls.map(({ tool, args: own }) =>
    defined({
      tool: plainName(tool),
      args:
        own === undefined || args === 'ignore'
          ? undefined
          : Object.fromEntries(
              Object.entries(own).map(([key, value]) => [key, plainArgument(value)]),
            ),
    }),
  );
  return [path({ expected_calls: { mode, args, calls: list } })];
}

/** The answer must agree with a reference, according to a judge. */
export const agreesWith = (reference: string): Block => ({
  llm_judge: [{ rule: `The answer agrees with this reference answer: ${reference}` }],
});

/** A reference answer without a comparison method. */
export const judgedOutput = (place: Place, reference: string): Carried =>
  carry(
    place,
    'expected_output',
    'close',
    [correctness(agreesWith(reference))],
    'the metric is in Python code, but here a judge compares',
  );
