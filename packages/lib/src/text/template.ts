/** A variable in a text, with the position of its `{{`. */
export interface TemplateSlot {
  readonly name: string;
  /** `{{name | json}}`: the value as JSON. */
  readonly isJson: boolean;
  readonly start: number;
}

/** Invalid variable syntax. */
export interface TemplateMistake {
  readonly message: string;
  readonly hint: string;
  readonly start: number;
}

/** A parsed text with variables. */
export interface Template {
  readonly parts: readonly (string | TemplateSlot)[];
  readonly mistakes: readonly TemplateMistake[];
  /** Variables escaped by a backslash. */
  readonly escaped: readonly TemplateSlot[];
}

const LITERAL = 'write \\{{ where braces are meant as text';

/**
 * Parses a text with variables. Undefined without `{{`. Pairs of backslashes right before `{{`
 * become one backslash, and a remaining one makes the braces literal.
 */
export function parseTemplate(text: string): Template | undefined {
  let open = text.indexOf('{{');
  if (open === -1) return undefined;
  const parts: (string | TemplateSlot)[] = [];
  const mistakes: TemplateMistake[] = [];
  const escaped: TemplateSlot[] = [];
  let plain = '';
  let at = 0;
  for (; open !== -1; open = text.indexOf('{{', at)) {
    let slashes = 0;
    while (open - slashes > at && text[open - slashes - 1] === '\\') slashes++;
    const before = `${text.slice(at, open - slashes)}${'\\'.repeat(slashes >> 1)}`;
    if (slashes % 2 === 1) {
      const end = text.indexOf('}}', open + 2);
      const meant = end === -1 ? undefined : readSlot(text.slice(open + 2, end), open);
      if (meant !== undefined && 'name' in meant) escaped.push(meant);
      plain += `${before}{{`;
      at = open + 2;
      continue;
    }
    const close = text.indexOf('}}', open + 2);
    const slot = close === -1 ? undefined : readSlot(text.slice(open + 2, close), open);
    if (slot === undefined || 'message' in slot) {
      mistakes.push(
        slot ?? {
          message: '"{{" opens a variable that is never closed',
          hint: LITERAL,
          start: open,
        },
      );
      plain += `${before}{{`;
      at = open + 2;
      continue;
    }
    plain += before;
    if (plain !== '') parts.push(plain);
    plain = '';
    parts.push(slot);
    at = close + 2;
  }
  plain += text.slice(at);
  if (plain !== '') parts.push(plain);
  return { parts, mistakes, escaped };
}

function readSlot(inside: string, start: number): TemplateSlot | TemplateMistake {
  const [written = '', filter, ...more] = inside.split('|');
  const name = written.trim();
  if (name === '' || /[{}\n\r]/.test(name))
    return { message: `"{{${inside.slice(0, 40)}}}" names no variable`, hint: LITERAL, start };
  if (filter === undefined) return { name, isJson: false, start };
  if (filter.trim() === 'json' && more.length === 0) return { name, isJson: true, start };
  const shown = [filter, ...more].join('|').trim();
  return {
    message: `"{{${name} | …}}" uses the filter "${shown.slice(0, 40)}", and there is only "json"`,
    hint: 'prepare the value where it comes from: filters and expressions are not run here',
    start,
  };
}

/** The variables in a text. */
export const slotsOf = ({ parts }: Template): readonly TemplateSlot[] =>
  parts.filter((part) => typeof part !== 'string');

/** The variable, if the text is exactly one. */
export function onlySlot({ parts }: Template): TemplateSlot | undefined {
  const [first] = parts;
  return parts.length === 1 && typeof first === 'object' ? first : undefined;
}

/** A value inside a longer text: text verbatim, anything else as JSON. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Fills in the values, which are data and never parsed again. */
export function renderTemplate(
  { parts }: Template,
  find: (name: string) => unknown,
  encode: (text: string) => string = (text) => text,
): string {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      const value = find(part.name);
      text += encode(part.isJson ? JSON.stringify(value) : valueText(value));
    }
  }
  return text;
}
