import { isObject } from '../../kit/object.ts';
import type { Notice } from './notice.ts';

const SLOT = /\{\{\s*([a-z_]+)\s*\}\}/g;
const WHOLE = /^\{\{\s*([a-z_]+)\s*\}\}$/;
const MAX_DEPTH = 64;

/**
 * A JSON template with `{{name}}` filled in. A text that is exactly one name takes its value as it is, such as a number or a
 * list; nothing in a template is run. Unknown names are listed.
 */
export function fillTemplate(
  template: unknown,
  notice: Notice,
  escape: (text: string) => string = (text) => text,
): { readonly value: unknown; readonly unknown: readonly string[] } {
  const unknown = new Set<string>();
  const valueOf = (name: string): unknown => {
    if (Object.hasOwn(notice, name)) return notice[name as keyof Notice];
    unknown.add(name);
    return null;
  };
  const fill = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) return null;
    if (typeof value === 'string') {
      const whole = WHOLE.exec(value)?.[1];
      if (whole !== undefined) {
        const found = valueOf(whole);
        return typeof found === 'string' ? escape(found) : found;
      }
      return value.replace(SLOT, (_, name: string) => escape(textOf(valueOf(name))));
    }
    if (Array.isArray(value)) return value.map((item) => fill(item, depth + 1));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, depth + 1)]));
    return value;
  };
  return { value: fill(template, 0), unknown: [...unknown] };
}

/** Lists of failures are a line each. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value))
    return (value as Notice['failures']).map(({ id, status, message }) => `${status}: ${id}: ${message}`).join('\n');
  return String(value);
}
