import { isObject } from '@agentci/lib/data';
import type { Notice } from './notice.ts';

const SLOT = /\{\{\s*([a-z_]+)\s*\}\}/g;
const WHOLE = /^\{\{\s*([a-z_]+)\s*\}\}$/;
const MAX_DEPTH = 64;

/**
 * Fills `{{name}}` in a JSON template. A text that is exactly one name becomes the value itself,
 * such as a number or list. Nothing in a template is executed.
 */
export function fillTemplate(
  template: unknown,
  notice: Notice,
  escapeText: (text: string) => string = (text) => text,
): unknown {
  const fieldOf = (name: string): unknown =>
    Object.hasOwn(notice, name) ? notice[name as keyof Notice] : null;
  const fill = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) return null;
    if (typeof value === 'string') {
      const whole = WHOLE.exec(value)?.[1];
      if (whole !== undefined) return escapeTexts(fieldOf(whole), escapeText);
      return value.replace(SLOT, (_, name: string) => escapeText(textOf(fieldOf(name))));
    }
    if (Array.isArray(value)) return value.map((item) => fill(item, depth + 1));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, fill(item, depth + 1)]),
      );
    return value;
  };
  return fill(template, 0);
}

/** A value with all texts escaped, also in lists. */
function escapeTexts(value: unknown, escapeText: (text: string) => string): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return value.map((item) => escapeTexts(item, escapeText));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, escapeTexts(item, escapeText)]),
  );
}

/** The names that a template uses. */
export const namesIn = (template: string): string[] =>
  [...template.matchAll(SLOT)].map(([, name]) => name!);

/** Lists of failures have one line per item. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value))
    return (value as Notice['failures'])
      .map(({ id, status, message }) => `${status}: ${id}: ${message}`)
      .join('\n');
  return String(value);
}
