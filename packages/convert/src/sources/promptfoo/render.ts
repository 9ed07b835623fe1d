/** Variables of a test. */
export type Vars = Readonly<Record<string, unknown>>;

export type Rendered =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

const SLOT = /\{\{-?([\s\S]*?)-?\}\}/g;
const NAME = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[(?:\d+|'[^']*'|"[^"]*")\])*$/;

/**
 * Fills in `{{name}}` and `{{name.field}}`. Does not support filters, calls and control flow, does
 * not read the environment, and does not expand templates in values. Executes nothing from a
 * source.
 */
export function render(
  template: string,
  vars: Vars,
  asText: (value: unknown) => string | undefined = plainText,
): Rendered {
  if (!template.includes('{')) return { ok: true, text: template };
  if (/\{%|\{#/.test(template))
    return { ok: false, why: 'template logic ({% … %}) is not carried' };
  let why: string | undefined;
  const text = template.replace(SLOT, (_, inside: string) => {
    const name = inside.trim();
    if (/^env\b/.test(name)) why ??= `{{${name}}} is of the environment, which is not read`;
    else if (!NAME.test(name)) why ??= `{{${name.slice(0, 60)}}} is more than a variable`;
    else {
      const value = lookUp(vars, name);
      const shown = value === undefined || value === null ? '' : asText(value);
      if (shown === undefined) why ??= `{{${name}}} is a list or map`;
      else if (/\{\{|\{%/.test(shown)) why ??= `{{${name}}} is a template itself`;
      else return shown;
    }
    return '';
  });
  return why === undefined ? { ok: true, text } : { ok: false, why };
}

const plainText = (value: unknown): string | undefined =>
  typeof value === 'object' ? undefined : String(value);
/** In a prompt, lists and maps are written as JSON. */
export const jsonText = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

function lookUp(vars: Vars, name: string): unknown {
  let value: unknown = vars;
  for (const step of name.match(/[A-Za-z_$][\w$]*|\d+|'[^']*'|"[^"]*"/g) ?? []) {
    const key = step.replace(/^['"]|['"]$/g, '');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
