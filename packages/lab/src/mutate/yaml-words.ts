/** Formats values on one line of YAML like a person would. */
export function yamlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${yamlValue(key)}: ${yamlValue(item)}`)
      .join(', ')}}`;
  // Some parsers read 1e+21 as a text.
  if (typeof value === 'number') return JSON.stringify(value).replace(/^(-?\d+)e/, '$1.0e');
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  return isPlain(value) ? value : JSON.stringify(value);
}

/** Texts that need no quotes in YAML, even in flow collections. */
const isPlain = (text: string): boolean =>
  /^[A-Za-z_][\w./-]*(?: [\w./-]+)*$/.test(text) &&
  !/^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(text);
